"""Reads a drawn graph back: from every checkpoint along its line, character by character.

It knows the characters and nothing of how they were chosen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Sequence

NODES = "◆●○✗@*ox"
DOWN = "│├╭|"
_FADED = "┊:"
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z  ")


@dataclass(frozen=True, slots=True)
class Drawn:
    """One checkpoint of a drawing: its column, and where its line leads."""

    line: int
    column: int
    leads_to: int | None
    """The index of another one, further down."""
    fades: bool


def without_times(drawing: str) -> str:
    """A plain drawing, which would be another one each time."""
    return _MOMENT.sub("", drawing)


def width(line: str) -> int:
    return cell_len(line)


def graph_of(printed: str) -> list[str]:
    """The graph alone, of lines that say a number and more after it."""
    lines = [line for line in printed.splitlines() if not line.startswith("Not shown: ")]
    # The newest is on top, and no number has more digits than its own.
    first = re.match(r"\D*", lines[0])
    assert first, lines[0]
    return [line[: first.end()].ljust(first.end()) for line in lines]


def read(graph: Sequence[str]) -> list[Drawn]:
    """Every checkpoint of a drawing, from the top."""
    places = [
        (number, at) for number, line in enumerate(graph) for at, c in enumerate(line) if c in NODES
    ]
    index = {place: number for number, place in enumerate(places)}
    found: list[Drawn] = []
    for number, at in places:
        assert at % 2 == 0, graph[number]
        end = _follow(graph, number, at)
        found.append(Drawn(number, at // 2, index.get(end), _character(graph, *end) in _FADED))
    return found


def _follow(graph: Sequence[str], line: int, at: int) -> tuple[int, int]:
    """The place where the line below a checkpoint ends: another one, or anything else."""
    line += 1
    while True:
        character = _character(graph, line, at)
        if character in DOWN:
            line += 1
        elif character == "╯" or (character == " " and _character(graph, line, at - 1) == "/"):
            at = _left_end(graph[line], at)
            line += 1
        else:
            return line, at


def _character(graph: Sequence[str], line: int, at: int) -> str:
    return graph[line][at] if line < len(graph) and at >= 0 else " "


def _left_end(line: str, at: int) -> int:
    """Along a line that has turned left, past those that it crosses."""
    at -= 2
    while line[at - 1 : at] in {"─", "_"}:
        at -= 2
    return at
