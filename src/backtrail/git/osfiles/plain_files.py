"""Reading files that somebody else may have made: plain ones alone, at once and within bounds.

A FIFO in the place of a file would block whoever opens it for ever, a device may never come to an
end, and a file may claim any size. Nothing of a sandbox, of its git directory or of the user's
repository is opened in another way.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

from backtrail.domain.errors import GitFailedError

LONGEST_LINE = 4096
"""Of a file that holds a single name, such as HEAD."""
LONGEST_RULES = 64 * 1024**2
LARGEST_INDEX = 4 * 1024**3
_LARGEST = 1 << 63


class NotPlainError(GitFailedError):
    """Something in the place of a file that cannot be read as one."""


def open_plain(path: Path | bytes, largest: int = _LARGEST, *, follow: bool = True) -> IO[bytes]:
    """Open a plain file of a size that such a file can have, for reading."""
    _check(os.stat(path, follow_symlinks=follow), path, largest)
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    file = os.fdopen(os.open(path, flags | (0 if follow else os.O_NOFOLLOW)), "rb")
    try:
        # It may have been exchanged meanwhile.
        _check(os.fstat(file.fileno()), path, largest)
    except NotPlainError:
        file.close()
        raise
    return file


def _check(found: os.stat_result, path: Path | bytes, largest: int) -> None:
    if stat.S_ISREG(found.st_mode) and found.st_size <= largest:
        return
    shown = os.fsdecode(path)
    what = "far too large" if stat.S_ISREG(found.st_mode) else "not a plain file"
    raise NotPlainError(
        f"{shown!r} is {what}: git could not read it either",
        hint="move it away and try again",
        details={"path": shown},
    )


def read_plain(path: Path | bytes, largest: int, *, follow: bool = True) -> bytes:
    """All of a plain file."""
    with open_plain(path, largest, follow=follow) as file:
        # No more than it has now: Python makes room for all that it is asked for.
        return file.read(os.fstat(file.fileno()).st_size)


def beginning_of(path: Path | bytes, length: int = LONGEST_LINE) -> bytes:
    """The first bytes of a plain file."""
    with open_plain(path) as file:
        return file.read(length)


def first_line(path: Path) -> str | None:
    """The first line of a plain file, without its end; None if there is no such file."""
    try:
        line = beginning_of(path).partition(b"\n")[0]
    except (OSError, ValueError, NotPlainError):
        return None
    return None if b"\0" in line else os.fsdecode(line.rstrip(b"\r"))
