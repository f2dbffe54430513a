"""A command line that holds another one: what follows the first `--` is not ours to parse."""

from __future__ import annotations

from collections.abc import Sequence

from backtrail.cli.invocation.session import WRAPPERS

_WITH_VALUE = frozenset({"-C", "--format"})


def split(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Our own words, and those of the command that is to be run."""
    if "--" not in argv:
        return list(argv), ()
    at = argv.index("--")
    ours = list(argv[:at])
    if _command_word(ours) in WRAPPERS:
        return ours, tuple(argv[at + 1 :])
    return list(argv), ()


def _command_word(words: Sequence[str]) -> str | None:
    before = ["", *words]
    for previous, word in zip(before, words, strict=False):
        if previous not in _WITH_VALUE and not word.startswith("-"):
            return word
    return None
