"""Small files of our own that are believed only if they are whole: each ends with its own digest.

A flipped bit, half a file, a link or a FIFO in its place: all count as no file at all.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from typing import TYPE_CHECKING

from backtrail.git.durable import write_durably

if TYPE_CHECKING:
    from pathlib import Path

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
