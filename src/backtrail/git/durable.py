"""Writing files so that they survive a crash: whole or not at all, and on disk when we say so."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from backtrail.git.walking import walk_all

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


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
