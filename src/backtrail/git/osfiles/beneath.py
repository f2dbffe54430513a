"""Directories below a root, opened so that no link on the way can lead out of it.

Whoever works in a sandbox can exchange a directory for a link at any moment. A name that was looked
at may then be somewhere else when it is used; a descriptor goes on meaning the directory that was
opened. So a directory is opened beneath the root without following a link, by the kernel where it
can (`openat2`) and else one component after the other, and what is in it is named relative to that.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Self

# A descriptor that only names a directory needs no permission to read it.
NAMED = getattr(os, "O_PATH", os.O_RDONLY)
_DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPENAT2, _NO_SYMLINKS, _BENEATH = 437, 0x04, 0x08
# There is no such call, it is forbidden here, or somebody has just renamed something.
_TRY_WITHOUT = frozenset({errno.ENOSYS, errno.EPERM, errno.EAGAIN})


class Beneath:
    """A root directory and what is below it; the last directory that was asked for stays open."""

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, _DIRECTORY | NAMED)
        self._path: bytes = b""
        self._last = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.forget()
        os.close(self._root)

    def forget(self) -> None:
        """Open the next directory anew, whichever it is."""
        if self._last >= 0:
            os.close(self._last)
            self._last = -1

    def directory(self, path: bytes) -> int:
        """A descriptor of a directory, for use until another one is asked for.

        NotADirectoryError also tells of a link on the way.
        """
        if not path:
            return self._root
        if self._last < 0 or path != self._path:
            self.forget()
            self._last = _opened(self._root, path)
            self._path = path
        return self._last

    def above(self, path: bytes) -> tuple[int, bytes]:
        """The directory that a path is in, for use until another one is asked for, and its name."""
        parent, _, name = path.rpartition(b"/")
        return self.directory(parent), name or b"."

    def lstat(self, path: bytes) -> os.stat_result | None:
        """What is at a path; None if nothing is, or only what a link leads to."""
        try:
            directory, name = self.above(path)
            return os.stat(name, dir_fd=directory, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    @contextmanager
    def scan(self, path: bytes) -> Generator[list[os.DirEntry[str]]]:
        """The entries of a directory, of which more can be asked until this ends."""
        flags = _DIRECTORY | os.O_RDONLY
        descriptor = os.open(b".", flags, dir_fd=self.directory(path))
        try:
            with os.scandir(descriptor) as entries:
                yield list(entries)
        finally:
            os.close(descriptor)

    def make_directory(self, path: bytes) -> int:
        """Have a directory, and those above it; gives a descriptor as `directory` does."""
        try:
            return self.directory(path)
        except FileNotFoundError:
            for parent in (*parents_of(path), path):
                above, name = self.above(parent)
                with suppress(FileExistsError):
                    os.mkdir(name, dir_fd=above)
            return self.directory(path)

    def remove_directory(self, path: bytes) -> bool:
        """Remove a directory; false if something is in it, or in its place."""
        try:
            above, name = self.above(path)
            os.rmdir(name, dir_fd=above)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        finally:
            # The very directory may be open.
            self.forget()
        return True

    def set_mode(self, path: bytes, mode: int, is_kind: Callable[[int], bool]) -> None:
        """Give what is there these permission bits, if it is of that kind and has others.

        A file with another name elsewhere keeps those that it has, for they belong to all names.
        """
        found = self.lstat(path)
        if not found or not is_kind(found.st_mode) or found.st_mode & PERMISSIONS == mode:
            return
        descriptor = _held(*self.above(path))
        try:
            # Not what was looked at, perhaps: this is what will be changed.
            found = os.fstat(descriptor)
            if is_kind(found.st_mode) and (stat.S_ISDIR(found.st_mode) or found.st_nlink == 1):
                _change_mode(descriptor, mode | found.st_mode & BEYOND_PERMISSIONS)
        finally:
            os.close(descriptor)


def parents_of(path: bytes) -> list[bytes]:
    """The directories above a path, outermost first."""
    found: list[bytes] = []
    at = path.find(b"/")
    while at >= 0:
        found.append(path[:at])
        at = path.find(b"/", at + 1)
    return found


def _held(directory: int, name: bytes) -> int:
    """What is there itself, for reading if that is allowed."""
    flags = os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags | os.O_RDONLY | os.O_NONBLOCK, dir_fd=directory)
    except PermissionError:
        return os.open(name, flags | NAMED, dir_fd=directory)


def _change_mode(descriptor: int, mode: int) -> None:
    try:
        os.fchmod(descriptor, mode)
    except OSError as error:
        if error.errno != errno.EBADF:
            raise
        # It may not be read: then the descriptor only names it.
        os.chmod(f"/proc/self/fd/{descriptor}", mode)


def _opened(root: int, path: bytes) -> int:
    """A descriptor of a directory below another one, no link being followed."""
    try:
        descriptor = _opened_at_once(root, path)
        return _opened_by_parts(root, path) if descriptor is None else descriptor
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EXDEV):
            raise NotADirectoryError(errno.ENOTDIR, "not a directory", path) from error
        if error.errno == errno.ENAMETOOLONG:
            # Longer than the system allows: what is there is as good as closed.
            raise PermissionError(errno.EACCES, "the path is too long", path) from error
        raise


class _How(ctypes.Structure):
    """The kernel's `struct open_how`."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


_HOW = _How(_DIRECTORY | NAMED, 0, _BENEATH | _NO_SYMLINKS)


@cache
def _system_call() -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.argtypes = (
        *(ctypes.c_long, ctypes.c_int, ctypes.c_char_p),
        *(ctypes.c_void_p, ctypes.c_size_t),
    )
    call.restype = ctypes.c_long
    return call


def _opened_at_once(root: int, path: bytes) -> int | None:
    """The same by one call of the kernel; None where it has none."""
    call = _system_call()
    if call is None:
        return None
    descriptor = call(_OPENAT2, root, path, ctypes.byref(_HOW), ctypes.sizeof(_HOW))
    if descriptor >= 0:
        return descriptor
    number = ctypes.get_errno()
    if number in _TRY_WITHOUT:
        return None
    raise OSError(number, os.strerror(number), path)


def _opened_by_parts(root: int, path: bytes) -> int:
    descriptor = os.dup(root)
    for part in path.split(b"/"):
        above = descriptor
        try:
            descriptor = os.open(part, _DIRECTORY | NAMED, dir_fd=above)
        finally:
            os.close(above)
    return descriptor


PERMISSIONS = 0o777
BEYOND_PERMISSIONS = 0o7000
