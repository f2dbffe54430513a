"""Replacing a file of a git directory under git's own lock, so that a kill leaves no strange lock.

Our lock is a second name of a file that only we name so, or a copy of it with the very same date
where files have one name only: the next command of ours can tell it from one of the user's, and
lets it go. Everything is done beneath an open descriptor of the
directory: whatever is put in the place of that directory meanwhile is not what is written to.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from backtrail.git.osfiles.locks import git_busy, until
from backtrail.git.osfiles.moving import link_or_copy

_LOCK_WAIT = 5.0
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def opened_directory(path: Path) -> Generator[int]:
    """A descriptor of a directory that is no link."""
    descriptor = os.open(path, DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def write_new(name: str, content: bytes, directory: int, date_ns: int | None = None) -> None:
    """Write a file of ours, in the place of whatever has its name; on disk when this returns."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)
    with os.fdopen(os.open(name, _NEW_FILE, 0o644, dir_fd=directory), "wb") as file:
        file.write(content)
        file.flush()
        if date_ns is not None:
            os.utime(file.fileno(), ns=(date_ns, date_ns))
        os.fsync(file.fileno())


@dataclass(frozen=True, slots=True)
class LockedFile:
    """A file that git replaces under a lock, in an open directory; `ours` is how we name it."""

    path: Path
    directory: int
    ours: str
    ours_in: int
    holds: str
    """What another git does that holds the lock, in words."""

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def _lock(self) -> str:
        return f"{self.name}.lock"

    def put(
        self,
        content: bytes | None,
        *,
        date_ns: int | None = None,
        check: Callable[[], None] = lambda: None,
        deadline: float = 0.0,
    ) -> None:
        """Replace the file, with None remove it, if a look under the lock is not against it.

        The lock is waited for until a deadline, and for a few seconds in any case.
        """
        self.release()
        try:
            write_new(self.ours, content or b"", self.ours_in, date_ns)
            self._take(deadline)
            check()
            if content is None:
                with suppress(FileNotFoundError):
                    os.unlink(self.name, dir_fd=self.directory)
            else:
                os.rename(
                    self._lock, self.name, src_dir_fd=self.directory, dst_dir_fd=self.directory
                )
            os.fsync(self.directory)
        finally:
            self.release()

    def _take(self, deadline: float) -> None:
        if not until(self._taken, max(deadline, time.monotonic() + _LOCK_WAIT)):
            raise git_busy(self.path.with_name(self._lock), self.holds)

    def _taken(self) -> bool:
        try:
            link_or_copy(
                os.fsencode(self.ours), os.fsencode(self._lock),
                source_directory=self.ours_in, target_directory=self.directory,
            )  # fmt: skip
        except FileExistsError:
            return False
        return True

    def release(self) -> None:
        """Remove our file and, if a killed command has left it, our lock."""
        ours = _marks(self.ours, self.ours_in)
        if ours is None:
            return
        if _marks(self._lock, self.directory) == ours:
            os.unlink(self._lock, dir_fd=self.directory)
        os.unlink(self.ours, dir_fd=self.ours_in)


def _marks(name: str, directory: int) -> tuple[int, ...] | None:
    """What two names of one file have in common, and a copy with what it was made from."""
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if found.st_nlink > 1:
        return found.st_dev, found.st_ino
    return found.st_dev, found.st_size, found.st_mtime_ns
