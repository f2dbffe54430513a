"""The key of the digests of steps: random, made at first use, and kept beside the store.

Without it, nobody can tell from the database which secrets were among a step's arguments. If it is
lost, another one is made, and steps that were recorded before run once more.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from backtrail.git.osfiles.durable import read_own, write_durably
from backtrail.git.osfiles.locks import exclusive_lock

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.git.store.store import StoreLayout


_BYTES = 32
_WAIT = 30.0


def digest_key(layout: StoreLayout) -> bytes:
    """The key of this store."""
    place = layout.home / "digest.key"
    key = _read(place)
    if key is not None:
        return key
    with exclusive_lock(layout.locks / "digest.lock", wait=_WAIT, what="the key of digests"):
        key = _read(place)
        if key is None:
            key = secrets.token_bytes(_BYTES)
            write_durably(place, key)
            place.chmod(0o600)
        return key


def _read(place: Path) -> bytes | None:
    try:
        key = read_own(place)
    except OSError:
        return None
    return key if len(key) == _BYTES else None
