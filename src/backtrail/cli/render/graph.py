"""Graphs of rows: where their lines run, and which characters draw them.

Column 0 belongs to the live line alone; every other line stands in the leftmost free column. A line
is known by the row that it leads to, so two lines to the same row become one at once: sixty
rollbacks to one checkpoint need no more room than one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Pen:
    """The characters to draw with; a column is one of them and a gap beside it."""

    line: str
    branch: str
    """Where another line arrives from the right."""
    corner: str
    """The same, with nothing above."""
    across: str
    bend: str
    bend_offset: int
    """Where the bend stands, seen from the column that it leaves."""
    faded: str


BOXES = Pen("│", "├", "╭", "─", "╯", 0, "┊")
ASCII = Pen("|", "|", " ", "_", "/", -1, ":")


def graph_width(rows: Iterable[GraphRow]) -> int:
    """How many characters the widest row needs."""
    columns = (max((row.column, *row.passing, *row.below)) for row in rows)
    return 2 * max(columns, default=0) + 1


def node_line(row: GraphRow, pen: Pen, node: str, width: int) -> str:
    """The line of the row itself."""
    cells = _cells(row.passing, pen.line, width)
    cells[2 * row.column] = node
    return "".join(cells)


def link_line(row: GraphRow, pen: Pen, width: int) -> str:
    """What is between a row and the next one."""
    cells = _cells(row.below, pen.line, width)
    if row.fades:
        cells[2 * row.column] = pen.faded
    if row.join is not None:
        into, source = row.join.into, row.join.source
        above = into == row.column or into in row.passing
        bend = 2 * source + pen.bend_offset
        for at in range(2 * into + 1, bend):
            # A line that passes by is not interrupted.
            cells[at] = pen.across if cells[at] == " " else cells[at]
        cells[2 * into] = pen.branch if above else pen.corner
        cells[bend] = pen.bend
    return "".join(cells)


def tail_line(rows: Sequence[GraphRow], pen: Pen, width: int) -> str:
    """Below the last row: lines that lead to what is not shown."""
    return "".join(_cells(rows[-1].below, pen.faded, width))


def _cells(columns: Iterable[int], character: str, width: int) -> list[str]:
    cells = [" "] * width
    for column in columns:
        cells[2 * column] = character
    return cells


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
