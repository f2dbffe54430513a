"""Finding out why git does not come to an end: a file of a sandbox for which it waits for ever."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable

_OPENED_BY_GIT = (b".gitignore", b".gitattributes")
_LOOKS, _BETWEEN_LOOKS = 5, 0.02


def refuse_endless(pid: int, work_tree: Path) -> None:
    """Refuse if git sleeps, and a file that it opens wherever it finds one is a FIFO or a device.

    This walks everything, so it is only for a git that has been running for a while.
    """
    if not _sleeps(pid):
        return
    for directory, folders, files in os.walk(os.fsencode(work_tree)):
        if b".git" in folders:
            folders.remove(b".git")
        for name in _OPENED_BY_GIT:
            if name in files and _makes_wait(os.path.join(directory, name)):
                path = os.path.relpath(os.path.join(directory, name), os.fsencode(work_tree))
                raise _refusal(os.fsdecode(path))


def refuse_endless_among(root: Path, special: Iterable[bytes]) -> None:
    """Refuse if one of these special files would stop git in the middle of writing."""
    for path in special:
        named = path.split(b"/")[-1] in _OPENED_BY_GIT
        if named and _makes_wait(os.path.join(os.fsencode(root), path)):
            raise _refusal(os.fsdecode(path))


def _sleeps(pid: int) -> bool:
    """Whether a process is seen to wait, again and again; taken for granted without /proc."""
    for _ in range(_LOOKS):
        try:
            state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            return True
        if state != b"S":
            return False
        time.sleep(_BETWEEN_LOOKS)
    return True


def _makes_wait(path: bytes) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    # A socket cannot be opened at all, and git goes on without it.
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def _refusal(path: str) -> RefusedError:
    return RefusedError(
        f"{path!r} is a FIFO or a device: git would wait for it for ever",
        hint="move it out of the sandbox and try again",
        details={"path": path},
    )
