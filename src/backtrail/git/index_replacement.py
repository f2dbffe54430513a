"""Replacing the index of a worktree of the user's, under the lock by which git itself does so."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from backtrail.domain.errors import BusyError
from backtrail.git.durable import fsync_file

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.git.gitstate import UserIndex

_LOCK_WAIT = 5.0
_OWN_INDEX = "backtrail-index"


def put_index(git_dir: Path, index: UserIndex | None) -> None:
    """Replace the index of a worktree under git's own lock, with its date."""
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
        _take_index_lock(ours, lock)
        if index is None:
            path.unlink(missing_ok=True)
            lock.unlink()
        else:
            lock.replace(path)
    finally:
        remove_own_index_lock(git_dir)


def _take_index_lock(ours: Path, lock: Path) -> None:
    deadline = time.monotonic() + _LOCK_WAIT
    while True:
        try:
            os.link(ours, lock)
        except FileExistsError as error:
            if time.monotonic() >= deadline:
                raise index_busy(lock) from error
            time.sleep(0.05)
        else:
            return


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


def index_busy(lock: Path) -> BusyError:
    return BusyError(
        f"another git process holds the index of the sandbox ({lock.name} exists)",
        hint=f"wait for it to end; if none is running, remove {str(lock)!r}",
    )
