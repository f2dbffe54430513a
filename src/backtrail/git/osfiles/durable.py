"""Writing files so that they survive a crash, and believing our own only if they are whole.

A flipped bit, half a file, a link or a FIFO in its place: all count as no file at all.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from backtrail.git.osfiles.walk import walk_all


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file atomically; the content and the name are on disk when this returns."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    fsync_directory(path.parent)


def fsync_file(path: Path) -> None:
    with _opened(path) as descriptor:
        os.fsync(descriptor)


def fsync_directory(path: Path) -> None:
    with _opened(path) as descriptor:
        os.fsync(descriptor)


def fsync_tree(root: Path) -> None:
    """Bring every file and directory below (and with) the root to disk."""
    for directory, entries in walk_all(root):
        place = os.path.join(os.fsencode(root), directory)
        # A link is on disk with its directory; following it could lead anywhere.
        files = (entry.path for entry in entries if entry.is_file(follow_symlinks=False))
        for path in (*files, place):
            with _opened(path) as descriptor:
                os.fsync(descriptor)


@contextmanager
def _opened(path: Path | bytes) -> Generator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


_DIGEST_LINE = 65


def write_checked(path: Path, content: bytes, *, durably: bool = False) -> None:
    """Write the content and its digest."""
    if os.path.lexists(path) and not is_plain(path):
        path.rename(path.with_name(f"{path.name}.{time.time_ns()}.no-file"))
    whole = content + b"\n" + _digest(content)
    if durably:
        write_durably(path, whole)
    else:
        path.write_bytes(whole)


def read_checked(path: Path) -> bytes | None:
    """The content, if it is what was written."""
    try:
        whole = read_own(path)
    except OSError:
        return None
    content, digest = whole[:-_DIGEST_LINE], whole[-_DIGEST_LINE:]
    return content if digest == b"\n" + _digest(content) else None


def read_own(path: Path) -> bytes:
    """What a file holds; what is no plain file is not even opened for long, and is an error."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file", str(path))
        return file.read()


def is_plain(path: Path) -> bool:
    """Whether there is a plain file; a link to one is none."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
