"""Comparing outputs of two runs: ids, moments, sizes and the width of a box do not matter."""

from __future__ import annotations

import re

from .shell import SHOWN_HOME

_CHANGING = (
    (re.compile(r"/tmp/tour\b"), SHOWN_HOME),  # noqa: S108 - an example in a page
    (re.compile(r"(\bbacktrail-[a-z]+-)[a-z0-9_]{8}\b"), r"\1SCRATCH"),
    (re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b"), "ID"),
    (re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{7,64}\b"), "COMMIT"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "MOMENT"),
    (re.compile(r"\bjust now\b|\b\d+ (?:second|minute|hour|day)s? ago\b"), "WHEN"),
    (re.compile(r"\b\d+(?:\.\d+)? (?:B|[KMG]iB)\b"), "SIZE"),
    (re.compile(r"\b\d+(?:\.\d+)? (?:ms|s|seconds?)\b"), "TIME"),
    (re.compile(r'("(?:size_bytes|duration_ms)": )\d+'), r"\1N"),
    (re.compile(r"─+"), "─"),
    (re.compile(r"[ \t]+"), " "),
)
_SLOW = re.compile(r"\b\d+ (?:minute|hour)s?\b")
_TIMES = re.compile(r"\b(?:just|now|ago|WHEN|\d+ (?:minute|hour)s?)\b")
_BOX = re.compile(r"^│(.*?)\s*│$")


def same_lines(documented: str, found: str, any_lines: str) -> bool:
    """Whether the lines agree; `any_lines` on a line of its own stands for any."""
    if _SLOW.search(found):
        # Where "just now" has become longer, other columns of a table are broken otherwise.
        return _words(documented) == _words(found)
    pattern = [
        "(?:.*\n)*" if line == any_lines else re.escape(f"{line}\n") for line in _lines(documented)
    ]
    return (
        re.fullmatch("".join(pattern), "".join(f"{line}\n" for line in _lines(found))) is not None
    )


def _lines(text: str) -> list[str]:
    for changing, name in _CHANGING:
        text = changing.sub(name, text)
    return [line.strip() for line in text.strip().splitlines()]


def _words(text: str) -> list[str]:
    """The words in any order, without those that say when."""
    kept = _TIMES.sub(" ", " ".join(_lines(text)))
    return sorted(kept.split())


def tidy(output: str) -> str:
    """An output as a page shows it: boxes closed again where a path has become shorter."""
    lines = output.rstrip().splitlines()
    width = max((len(line) for line in lines if line.startswith("╭")), default=0)
    fixed = [_BOX.sub(lambda found: f"│{found[1]}".ljust(width - 1) + "│", line) for line in lines]
    return "".join(f"{line.rstrip()}\n" for line in fixed)
