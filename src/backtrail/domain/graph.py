"""Graphs of rows: where their lines run.

Column 0 belongs to the live line alone; every other line stands in the leftmost free column. A line
is known by the row that it leads to, so two lines to the same row become one at once: sixty
rollbacks to one checkpoint need no more room than one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


FEWEST_COLUMNS = 3
"""The live line, one that passes by, and the row itself: with less nothing can be drawn."""


@dataclass(frozen=True, slots=True)
class Node:
    """One row; `follows` is the index of the older row it grew from, further down."""

    live: bool
    follows: int | None


@dataclass(frozen=True, slots=True)
class Join:
    """Below a row, the line in column `source` turns left and becomes one with that in `into`."""

    source: int
    into: int


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A row's own column, the columns of lines that pass by, and what happens below it."""

    column: int
    passing: frozenset[int]
    below: frozenset[int]
    join: Join | None
    fades: bool
    """Its line is not drawn to the row that it follows: that one is not there, or too many are."""


def lay_out(nodes: Sequence[Node], *, max_columns: int | None = None) -> tuple[GraphRow, ...]:
    """A place for every node; with `max_columns`, the longest lines fade where there are more."""
    folded = _folded(nodes, max_columns)
    tip = _tip(nodes)
    lines: dict[int, int] = {}  # the row that a line leads to, and its column
    rows: list[GraphRow] = []
    for index, node in enumerate(nodes):
        arriving = lines.pop(index, None)
        passing = frozenset(lines.values())
        column = _column(node, arriving, passing)
        follows = None if index in folded else node.follows
        join = None if follows is None else _lead(lines, column, follows, tip)
        below = frozenset(lines.values())
        fades = follows is None and index + 1 < len(nodes)
        rows.append(GraphRow(column, passing, below, join, fades))
    return tuple(rows)


def _tip(nodes: Sequence[Node]) -> int | None:
    return next((index for index, node in enumerate(nodes) if node.live), None)


def _column(node: Node, arriving: int | None, passing: Collection[int]) -> int:
    if node.live:
        return 0
    if arriving is not None:
        return arriving
    return next(column for column in count(1) if column not in passing)


def _lead(lines: dict[int, int], column: int, follows: int, tip: int | None) -> Join | None:
    """Let a line begin in a column; it joins another one that leads to the same row."""
    other = lines.get(follows)
    if other is None and follows == tip:
        other = 0  # nothing live is above it, so column 0 is free up to there
    if other is None:
        lines[follows] = column
        return None
    into, source = sorted((column, other))
    lines[follows] = into
    return Join(source, into)


def _folded(nodes: Sequence[Node], max_columns: int | None) -> frozenset[int]:
    """Rows whose lines are not drawn, so that no row needs more columns: the ones that lead far."""
    folded: set[int] = set()
    if max_columns is None:
        return frozenset()
    room = max(max_columns, FEWEST_COLUMNS)
    open_lines: dict[int, list[int]] = {}  # the row that a line leads to, and the rows it is from
    live_line = _tip(nodes)
    for index, node in enumerate(nodes):
        open_lines.pop(index, None)
        beside = sorted(row for row in open_lines if row != live_line)
        while 1 + len(beside) + (not node.live) > room:
            folded.update(open_lines.pop(beside.pop()))
        if node.live:
            live_line = node.follows
        if node.follows is not None:
            open_lines.setdefault(node.follows, []).append(index)
    return frozenset(folded)
