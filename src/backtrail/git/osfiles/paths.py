"""Looking at paths below a sandbox without being led out of it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from backtrail.git.osfiles.beneath import Beneath, parents_of

_DEEP = 16
"""From this depth on it is quicker not to look at each directory above a path."""


def lstat_inside(root: Path, path: bytes) -> os.stat_result | None:
    """The lstat of a path below the root; None if absent or only reachable through a link."""
    try:
        with Beneath(root) as inside:
            return inside.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def exists_inside(root: Path, path: bytes) -> bool:
    """Whether a path below the root is there, or may be, and is no directory.

    Whoever wants to save one that may be there will be told that it cannot be read.
    """
    return _is(root, path, lambda mode: not stat.S_ISDIR(mode), if_closed=True)


def is_there(root: Path, path: bytes) -> bool:
    """Whether there is anything at a path below the root, or may be."""
    return _is(root, path, lambda _: True, if_closed=True)


def is_special_inside(root: Path, path: bytes) -> bool:
    """Whether a path below the root is a FIFO, a socket or a device."""
    usual = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
    return _is(root, path, lambda mode: stat.S_IFMT(mode) not in usual, if_closed=False)


def is_directory_inside(root: Path, path: bytes) -> bool:
    return _is(root, path, stat.S_ISDIR, if_closed=False)


def _is(root: Path, path: bytes, is_kind: Callable[[int], bool], *, if_closed: bool) -> bool:
    try:
        found = lstat_inside(root, path)
    except PermissionError:
        return if_closed
    return found is not None and is_kind(found.st_mode)


def first_obstacle(root: Path, path: bytes) -> bytes | None:
    """The first parent of the path that exists and is no real directory."""
    base = os.fsencode(root)
    if path.count(b"/") > _DEEP and _leads_straight(base, os.path.dirname(path)):
        return None
    for parent in parents_of(path):
        found = _lstat(os.path.join(base, parent))
        if found is None:
            return None
        if not stat.S_ISDIR(found.st_mode):
            return parent
    return None


def _leads_straight(base: bytes, directory: bytes) -> bool:
    """Whether a directory is there, and none above it is a link, as the system itself tells."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(os.path.join(base, directory), flags)
    except OSError:
        return False
    try:
        return os.readlink(b"/proc/self/fd/%d" % descriptor) == os.path.join(
            os.path.realpath(base), directory
        )
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _lstat(path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise PermissionError(errno.EACCES, "the path is too long", path) from error


def is_special(entry: os.DirEntry[bytes] | os.DirEntry[str]) -> bool:
    """Whether a directory's entry is a FIFO, a socket or a device."""
    return not (
        entry.is_symlink()
        or entry.is_file(follow_symlinks=False)
        or entry.is_dir(follow_symlinks=False)
    )
