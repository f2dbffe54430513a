"""Moving and copying single entries between opened directories, where no name may be taken."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import suppress

CHUNK = 1 << 20
# A file system without hard links, or one that has no more of them for this file.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS})


def can_rename(source: int, target: int) -> bool:
    """Whether what is in one directory can be renamed into the other: nothing is tried with."""
    if os.fstat(source).st_dev != os.fstat(target).st_dev:
        return False
    try:
        os.rename(b".backtrail-none", b".backtrail-none", src_dir_fd=source, dst_dir_fd=target)
    except OSError as error:
        # Of two mounts of one file system the kernel tells before it looks for the name.
        return error.errno != errno.EXDEV
    return True


def move_where_free(
    name: bytes, target: bytes, *, source_directory: int, target_directory: int
) -> None:
    """Rename, but never over anything: FileExistsError if something is there."""
    try:
        os.link(
            name, target,
            src_dir_fd=source_directory, dst_dir_fd=target_directory, follow_symlinks=False,
        )  # fmt: skip
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with suppress(FileNotFoundError):
            os.stat(target, dir_fd=target_directory, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from error
        os.rename(name, target, src_dir_fd=source_directory, dst_dir_fd=target_directory)
    else:
        os.unlink(name, dir_fd=source_directory)


def link_or_copy(
    name: bytes, target: bytes, *, source_directory: int, target_directory: int
) -> None:
    """Give a file a second name, or a copy where it can have but one; FileExistsError as above."""
    try:
        os.link(
            name, target,
            src_dir_fd=source_directory, dst_dir_fd=target_directory, follow_symlinks=False,
        )  # fmt: skip
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        copy_entry(
            name, target, source_directory=source_directory, target_directory=target_directory
        )


def copy_entry(name: bytes, target: bytes, *, source_directory: int, target_directory: int) -> None:
    """Copy a file, with its mode and date, or a link; nothing may be in its place."""
    found = os.stat(name, dir_fd=source_directory, follow_symlinks=False)
    if stat.S_ISLNK(found.st_mode):
        os.symlink(os.readlink(name, dir_fd=source_directory), target, dir_fd=target_directory)
        return
    reading = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    writing = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with open(os.open(name, reading, dir_fd=source_directory), "rb") as source:
        made = os.open(target, writing, 0o600, dir_fd=target_directory)
        try:
            with open(made, "wb") as copy:
                shutil.copyfileobj(source, copy, CHUNK)
                copy.flush()
                os.fchmod(copy.fileno(), stat.S_IMODE(found.st_mode))
                os.utime(copy.fileno(), ns=(found.st_atime_ns, found.st_mtime_ns))
        except BaseException:
            # Half a file must not stay: in the place of a lock nobody would know it for ours.
            with suppress(OSError):
                os.unlink(target, dir_fd=target_directory)
            raise
