"""Checks of what pages say by hand against what the program knows."""

from __future__ import annotations

import re

from . import exit_codes, fields, scenarios, tables
from .pages import ROOT

_VARIABLE = re.compile(r'environ(?:\.get\(|\[)"(PLAN_\w+|NO_COLOR)"')
_CLI_PAGE = "docs/reference/cli.md"


def problems() -> list[str]:
    return [
        *exit_codes.problems(),
        *tables.problems(),
        *fields.problems(),
        *scenarios.problems(),
        *_unknown_variables(),
    ]


def _unknown_variables() -> list[str]:
    """Environment variables that the program reads and its page does not have."""
    page = (ROOT / _CLI_PAGE).read_text("utf-8")
    sources = (ROOT / "src").rglob("*.py")
    read = {name for source in sources for name in _VARIABLE.findall(source.read_text("utf-8"))}
    return [f"{_CLI_PAGE}: no word on {name}" for name in sorted(read) if f"`{name}`" not in page]
