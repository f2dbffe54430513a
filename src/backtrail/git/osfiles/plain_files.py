"""Reading files that somebody else may have made: plain ones alone, at once and within bounds.

A FIFO in the place of a file would block whoever opens it for ever, a device may never come to an
end, and a file may claim any size. Nothing of a sandbox, of its git directory or of the user's
repository is opened in another way.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from errno import EIO, EMFILE, ENFILE, ENOENT, ENOMEM, ENOSPC, ENOTDIR
from pathlib import Path
from typing import IO

from backtrail.domain.errors import GitFailedError

LONGEST_LINE = 4096
"""Of a file that holds a single name, such as HEAD."""
LONGEST_RULES = 64 * 1024**2
LARGEST_INDEX = 4 * 1024**3
_LARGEST = 1 << 63
_NOT_OF_THE_FILE = (ENOENT, ENOTDIR, EIO, EMFILE, ENFILE, ENOMEM, ENOSPC)
"""Errors that say that there is nothing, or that are about the machine."""


class NotPlainError(GitFailedError):
    """Something in the place of a file that cannot be read as one."""


def open_plain(path: Path | bytes, largest: int = _LARGEST, *, follow: bool = True) -> IO[bytes]:
    """Open a plain file of a size that such a file can have, for reading."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    with _told_of(path):
        _check(os.stat(path, follow_symlinks=follow), path, largest)
        file = os.fdopen(os.open(path, flags | (0 if follow else os.O_NOFOLLOW)), "rb")
    try:
        # It may have been exchanged meanwhile.
        _check(os.fstat(file.fileno()), path, largest)
    except NotPlainError:
        file.close()
        raise
    return file


@contextmanager
def _told_of(path: Path | bytes) -> Generator[None]:
    """Tell of what the system does not open or read (a link in a circle, say) by its name."""
    try:
        yield
    except OSError as error:
        if error.errno in _NOT_OF_THE_FILE:
            raise
        raise _not_plain(path, f"cannot be read: {error.strerror}") from error


def _check(found: os.stat_result, path: Path | bytes, largest: int) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise _not_plain(path, "is not a plain file: it is a link, and git never makes one there")
    if not stat.S_ISREG(found.st_mode):
        raise _not_plain(path, "is not a plain file: git could not read it either")
    if found.st_size > largest:
        raise _not_plain(path, "is far too large: git could not read it either")


def _not_plain(path: Path | bytes, what: str) -> NotPlainError:
    shown = os.fsdecode(path)
    return NotPlainError(
        f"{shown!r} {what}", hint="move it away and try again", details={"path": shown}
    )


def read_plain(path: Path | bytes, largest: int, *, follow: bool = True) -> bytes:
    """All of a plain file."""
    return read_dated(path, largest, follow=follow)[0]


def read_dated(path: Path | bytes, largest: int, *, follow: bool = True) -> tuple[bytes, int]:
    """All of a plain file, and its date."""
    with open_plain(path, largest, follow=follow) as file, _told_of(path):
        found = os.fstat(file.fileno())
        # No more than it has now: Python makes room for all that it is asked for.
        return file.read(found.st_size), found.st_mtime_ns


def beginning_of(path: Path | bytes, length: int = LONGEST_LINE, *, follow: bool = True) -> bytes:
    """The first bytes of a plain file."""
    with open_plain(path, follow=follow) as file, _told_of(path):
        return file.read(length)


def first_line(path: Path) -> str | None:
    """The first line of a plain file, without its end; None if there is no such file."""
    try:
        line = beginning_of(path).partition(b"\n")[0]
    except (OSError, ValueError, NotPlainError):
        return None
    return None if b"\0" in line else os.fsdecode(line.rstrip(b"\r"))
