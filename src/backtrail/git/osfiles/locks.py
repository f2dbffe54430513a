"""Locks between processes, held by an open descriptor that git children inherit.

Git inherits our locks, so that nobody comes between while it still writes. If whoever started it
was killed, it mostly ends soon; one that waits for something would keep the lock for ever.

SIGKILL of the parent leaves a git child running; because the child holds the same open file
description, the lock stays taken until that child has ended, too. It does not stay for ever:
whoever waits for the lock ends gits that hold it on behalf of nobody.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from backtrail.domain.errors import BusyError, FailedError

_PROC = Path("/proc")


def end_orphans(lock: int, number: signal.Signals) -> None:
    """Ask gits that alone hold the lock of this open file to end.

    Where any holder was started by somebody who does not hold it and is no git, that one is at
    work. Only Linux tells who holds a lock.
    """
    holders = dict(_holders(lock))
    if not all(_began_with_git(pid, holders) for pid in holders):
        return
    for pid in holders:
        # Git leads a process group of its own, in which its filters are.
        with suppress(ProcessLookupError, PermissionError):
            if os.getpgid(pid) == pid:
                os.killpg(pid, number)


def _began_with_git(pid: int, holders: dict[int, tuple[int, str]]) -> bool:
    """Whether the first of the holders above (and with) a process is a git."""
    seen: set[int] = set()
    while holders[pid][0] in holders and pid not in seen:
        seen.add(pid)
        pid = holders[pid][0]
    return holders[pid][1] == "git" or holders[pid][1].startswith("git-")


def _holders(lock: int) -> Iterator[tuple[int, tuple[int, str]]]:
    """The processes that hold a lock, each with its parent and the name of its program."""
    file = os.fstat(lock)
    for place in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            if any(_holds(place, descriptor, file) for descriptor in os.listdir(place / "fd")):
                parent = int((place / "stat").read_bytes().rpartition(b")")[2].split()[1])
                yield int(place.name), (parent, (place / "exe").readlink().name)


def _holds(process: Path, descriptor: str, file: os.stat_result) -> bool:
    with suppress(OSError):
        if os.path.samestat((process / "fd" / descriptor).stat(), file):
            return b"FLOCK" in (process / "fdinfo" / descriptor).read_bytes()
    return False


_POLL_SECONDS = 0.02
_POLL_SECONDS_MAX = 0.2
_PATIENCE = 2.0
"""How long a git whose owner is gone may still take."""


@contextmanager
def exclusive_lock(path: Path, *, wait: float, what: str) -> Generator[int]:
    """Hold the lock file exclusively; yields the descriptor to hand to children."""
    descriptor = _open(path)
    try:
        _acquire(descriptor, wait=wait, what=what)
        yield descriptor
    finally:
        # Closing lets go only when no child holds the description any more, as intended;
        # an explicit unlock would let go for the children as well.
        os.close(descriptor)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno not in (errno.EISDIR, errno.ELOOP):
            raise
        # Nobody can hold what cannot be opened, and a lock file holds nothing else.
        path.rename(path.with_name(f"{path.name}.{time.time_ns()}.no-lock"))
        return os.open(path, flags, 0o600)


def _acquire(descriptor: int, *, wait: float, what: str) -> None:
    began = time.monotonic()
    seen = [0]

    def done() -> bool:
        if time.monotonic() >= began + _PATIENCE * (len(seen)):
            # Whoever does not heed a polite word within the same time is ended.
            end_orphans(descriptor, signal.SIGTERM if len(seen) == 1 else signal.SIGKILL)
            seen.append(0)
        return _try_lock(descriptor)

    if not _try_lock(descriptor) and not until(done, began + wait):
        raise BusyError(
            f"{what} is in use by another process",
            hint="try again when it has ended, or wait longer with --wait SECONDS",
        )


def until(done: Callable[[], bool], deadline: float) -> bool:
    """Ask until it is done, or the deadline has passed; whether it is done."""
    pause = _POLL_SECONDS
    while not done():
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, _POLL_SECONDS_MAX)
    return True


def wait_for_git(lock: Path, what: str, deadline: float) -> None:
    """Wait until a lock of git's own is gone; it may be one that a killed git has left."""
    if not until(lambda: not os.path.lexists(lock), deadline):
        raise git_busy(lock, what)


def git_busy(lock: Path, what: str) -> BusyError:
    return BusyError(
        f"another git process {what} ({lock.name} exists)",
        hint=f"wait for it to end; if none is running, remove {str(lock)!r}",
    )


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise no_locks() from error
    return True


def no_locks() -> FailedError:
    return FailedError(
        "the file system of the repository cannot lock files",
        hint="set PLAN_HOME to a directory on a local file system",
    )
