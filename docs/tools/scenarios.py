"""The page about fidelity: every line names the scenarios that hold it, and these exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .pages import ROOT

PAGE = ROOT / "docs" / "reference" / "fidelity.md"
_TITLE = re.compile(r"^\s*Scenario(?: Outline)?: (.+?)\s*$", re.MULTILINE)
_VARIES = re.compile(r"<[^>]+>")
# A feature with a colon, or a title in italics.
_NAMED = re.compile(r"(?:^|; )(\w+): |\*([^*]+)\*")
_COLUMNS = 4


def problems() -> list[str]:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")][2:]
    titles = _titles()
    return [f"{PAGE.name}: {problem}" for row in rows for problem in _problems_in(row, titles)]


def _titles() -> dict[str, set[str]]:
    """The titles of all scenarios by feature, with … for what varies."""
    return {
        path.stem: {_VARIES.sub("…", title) for title in _TITLE.findall(path.read_text("utf-8"))}
        for path in (ROOT / "features").glob("*.feature")
    }


def _problems_in(row: str, titles: dict[str, set[str]]) -> Iterator[str]:
    cells = row.strip("| ").split(" | ")
    if len(cells) != _COLUMNS:
        yield f"{len(cells)} cells instead of {_COLUMNS} in the line of {cells[0]!r}"
        return
    feature, named = "", 0
    for found in _NAMED.finditer(cells[-1]):
        feature, title = found[1] or feature, found[2]
        if title:
            named += 1
            if title not in titles.get(feature, ()):
                yield f"{feature} has no scenario {title!r}"
    if not named:
        yield f"no scenario holds {cells[0]!r}"
