"""Replacing the index of a worktree of the user's, under the lock by which git itself does so."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from backtrail.git.durable import fsync_file
from backtrail.git.locks import git_busy, until

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.git.gitstate import UserIndex

_LOCK_WAIT = 5.0
_OWN_INDEX = "backtrail-index"
HOLDS_INDEX = "holds the index of the sandbox"


def put_index(git_dir: Path, index: UserIndex | None, *, deadline: float = 0.0) -> None:
    """Replace the index of a worktree under git's own lock, with its date.

    That lock is waited for until a deadline, and for a few seconds in any case.
    """
    path, lock, ours = git_dir / "index", git_dir / "index.lock", git_dir / _OWN_INDEX
    # The directory is the sandbox's too: nothing planted there is written through.
    ours.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(ours, flags, 0o644), "wb") as file:
        file.write(index.content if index else b"")
    try:
        if index is not None:
            # The date says which entries git may trust without looking; it belongs to the index.
            os.utime(ours, ns=(index.mtime_ns, index.mtime_ns))
        fsync_file(ours)
        deadline = max(deadline, time.monotonic() + _LOCK_WAIT)
        if not until(lambda: _taken(ours, lock), deadline):
            raise git_busy(lock, HOLDS_INDEX)
        if index is None:
            path.unlink(missing_ok=True)
            lock.unlink()
        else:
            lock.replace(path)
    finally:
        remove_own_index_lock(git_dir)


def _taken(ours: Path, lock: Path) -> bool:
    try:
        os.link(ours, lock)
    except FileExistsError:
        return False
    return True


def remove_own_index_lock(git_dir: Path) -> None:
    """Remove an index lock that we took and, killed, did not let go.

    The lock is a second name of a file of ours, so that it can be told from one of the user's.
    """
    ours, lock = git_dir / _OWN_INDEX, git_dir / "index.lock"
    if not os.path.lexists(ours):
        return
    if lock.exists() and lock.samefile(ours):
        lock.unlink()
    ours.unlink()
