"""Pieces of sentences that several layers use."""

from collections.abc import Sequence

_NAMED = 3


def some_of(names: Sequence[str]) -> str:
    """The first few of the names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
