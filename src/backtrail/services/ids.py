"""New ids: ULIDs that only grow within a plan, also when the clock does not."""

from __future__ import annotations

from ulid import ULID


def new_id(after: str | None = None) -> str:
    """A fresh ULID, greater than `after` even if the clock was set back."""
    fresh = str(ULID())
    if after is None or fresh > after:
        return fresh
    return str(ULID.from_int(int(ULID.from_str(after)) + 1))
