"""Which characters draw a graph of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backtrail.domain.graph import GraphRow


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
