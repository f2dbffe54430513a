"""The little Markdown that generated parts are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; nothing at all if it would have no rows."""
    lines = [_row(cells) for cells in rows]
    return "\n".join([_row(titles), _row(["---"] * len(titles)), *lines]) + "\n" if lines else ""


def _row(cells: Iterable[str]) -> str:
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return "".join(f"| {cell} " if cell else "| " for cell in escaped) + "|"


def code(text: str) -> str:
    return f"`{text}`"


def codes(words: Iterable[str]) -> str:
    return ", ".join(code(word) for word in words)


def fenced(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return _NOT_IN_ANCHORS.sub("", heading.strip().lower()).replace(" ", "-")


def link(text: str, heading: str) -> str:
    return f"[{text}](#{anchor(heading)})"
