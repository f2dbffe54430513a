"""Checks of links between pages: files, anchors, and files that are named in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .markdown import anchor
from .pages import ROOT, all_pages, shown

_FENCE = re.compile(r"^(```|~~~).*?^\1$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_OUTSIDE = re.compile(r"^[a-z]+:")
_NAMED_FILE = re.compile(r"`([\w.-]+(?:/[\w.-]+)+\.(?:py|feature|robot|toml|json|md))`")
_BASES = (ROOT, ROOT / "src" / "backtrail", ROOT / "docs")
"""Where a file that is named in the text may be."""


def problems() -> list[str]:
    return [problem for page in all_pages() for problem in _problems(page)]


def _problems(page: Path) -> Iterator[str]:
    text = _prose(page)
    for target in _LINK.findall(text):
        if not _OUTSIDE.match(target) and not _resolves(page, target):
            yield f"{shown(page)}: the link to {target} leads nowhere"
    for name in _NAMED_FILE.findall(text):
        if not any((base / name).exists() for base in (*_BASES, page.parent)):
            yield f"{shown(page)}: there is no file {name}"


def _resolves(page: Path, target: str) -> bool:
    file, _, fragment = target.partition("#")
    found = (page.parent / file).resolve() if file else page
    if not found.exists():
        return False
    return not fragment or (found.suffix == ".md" and fragment in _anchors(found))


@cache
def _anchors(page: Path) -> set[str]:
    found: set[str] = set()
    for heading in _HEADING.findall(_prose(page)):
        name = again = anchor(heading)
        number = 0
        while again in found:
            number += 1
            again = f"{name}-{number}"
        found.add(again)
    return found


@cache
def _prose(page: Path) -> str:
    """The page without its code blocks and comments."""
    return _COMMENT.sub("", _FENCE.sub("", page.read_text("utf-8")))
