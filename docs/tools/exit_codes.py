"""The exit codes of the program, and whether their page has them all."""

from __future__ import annotations

import re

from backtrail.cli.invocation.error_codes import INTERRUPTED
from backtrail.domain.errors import BacktrailError, ExitCode

from .pages import ROOT

_PAGE = "docs/reference/exit-codes.md"
_ROW = re.compile(r"^\| (\d+) \| (?:`(\w+)` )?\|", re.MULTILINE)


def error_words() -> dict[ExitCode, str]:
    """The word for each code that a failure can have."""
    kinds: list[type[BacktrailError]] = [BacktrailError, *BacktrailError.__subclasses__()]
    words = {kind.exit_code: kind.code for kind in kinds}
    return {**words, ExitCode.DEFECT: "defect", ExitCode.INTERRUPTED: INTERRUPTED.code}


def problems() -> list[str]:
    """Rows of the page's table that are missing, or that say something else than the program."""
    text = (ROOT / _PAGE).read_text("utf-8")
    documented = {int(code): word for code, word in _ROW.findall(text)}
    known = {int(code): error_words().get(code, "") for code in ExitCode}
    return [
        f"{_PAGE}: {code} is {documented.get(code)!r}, in the program {known.get(code)!r}"
        for code in sorted(documented.keys() | known.keys())
        if documented.get(code) != known.get(code)
    ]
