"""Pieces of sentences that several layers use."""

from collections.abc import Sequence

_NAMED = 3
_SHOWN = 60


def of_paths(paths: Sequence[str]) -> str:
    """What follows if some paths alone are meant."""
    return f" (only {some_of(paths)})" if paths else ""


def some_of(names: Sequence[str]) -> str:
    """The first few of the names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def shortened(words: str) -> str:
    """What fits into a sentence."""
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
