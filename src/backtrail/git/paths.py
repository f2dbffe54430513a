"""Looking at paths below a sandbox without being led out of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def lstat_inside(root: Path, path: bytes) -> os.stat_result | None:
    """The lstat of a path below the root; None if absent or only reachable through a link."""
    if first_obstacle(root, path) is not None:
        return None
    return _lstat(os.path.join(os.fsencode(root), path))


def first_obstacle(root: Path, path: bytes) -> bytes | None:
    """The first parent of the path that exists and is no real directory."""
    base = os.fsencode(root)
    parts = path.split(b"/")[:-1]
    for count in range(1, len(parts) + 1):
        parent = b"/".join(parts[:count])
        found = _lstat(os.path.join(base, parent))
        if found is None:
            return None
        if found.st_mode & 0o170000 != 0o040000:
            return parent
    return None


def _lstat(path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
