"""Locks between processes, held by an open descriptor that git children inherit.

SIGKILL of the parent leaves a git child running; because the child holds the same open file
description, the lock stays taken until that child has ended, too.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from backtrail.domain.errors import BusyError, FailedError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

_POLL_SECONDS = 0.02
_POLL_SECONDS_MAX = 0.2


@contextmanager
def exclusive_lock(path: Path, *, wait: float, what: str) -> Generator[int]:
    """Hold the lock file exclusively; yields the descriptor to hand to children."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        _acquire(descriptor, wait=wait, what=what)
        yield descriptor
    finally:
        # Closing lets go only when no child holds the description any more, as intended;
        # an explicit unlock would let go for the children as well.
        os.close(descriptor)


def _acquire(descriptor: int, *, wait: float, what: str) -> None:
    deadline = time.monotonic() + wait
    pause = _POLL_SECONDS
    while not _try_lock(descriptor):
        if time.monotonic() >= deadline:
            raise BusyError(
                f"{what} is in use by another process",
                hint="try again when it has ended, or wait longer with --wait SECONDS",
            )
        time.sleep(pause)
        pause = min(pause * 1.5, _POLL_SECONDS_MAX)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise FailedError(
            "the file system of the repository cannot lock files",
            hint="set PLAN_HOME to a directory on a local file system",
        ) from error
    return True
