"""Which paths can go into a checkpoint, and why the others cannot."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from backtrail.domain.checkpoint import NotCaptured
from backtrail.git.osfiles.beneath import Beneath

NESTED = "nested repository"
SPECIAL = "special file"
UNREADABLE = "cannot be read"
TOO_LARGE = "larger than max_file_size"
NOT_SMALL = "ignored, and larger than 1 MiB"
NOT_SMALL_TOGETHER = "ignored, and more than 16 MiB together with smaller ones"
REFUSED_NAME = "git cannot store this name"
UNSTEADY = "it kept changing while it was read"
NOT_WHOLE = "names objects that git does not have, or not whole"
"""What git has noted is captured, and those objects are not."""
SET_BITS = "set-id and sticky bits"
"""Of such a path only these bits are left out: its content is captured."""

BESIDE_THE_FILES = (NESTED, SET_BITS, NOT_WHOLE)
"""Reasons that are not about a file of the sandbox that is left out."""


Storable = dict[bytes, os.stat_result | None]
"""Paths that can be captured, as they were found; None for what is not there any more."""


@dataclass(frozen=True, slots=True)
class Sieve:
    """Lets through what can be captured."""

    root: Path
    max_file_size: int | None
    without_limit: Callable[[list[bytes]], set[bytes]]
    """Those of some paths for which no limit holds."""

    def sift(self, paths: Iterable[bytes]) -> tuple[Storable, list[NotCaptured]]:
        """The paths that can be captured, and a note for each of the others."""
        storable: Storable = {}
        large: dict[bytes, os.stat_result] = {}
        left_out: list[NotCaptured] = []
        with Beneath(self.root) as inside:
            for path in paths:
                found, problem = self._look(inside, path)
                if problem is not None:
                    left_out.append(NotCaptured(os.fsdecode(path), problem))
                elif found is not None and self._is_large(found):
                    large[path] = found
                else:
                    storable[path] = found
        exempt = self.without_limit(list(large)) if large else set[bytes]()
        storable |= {path: large[path] for path in exempt}
        left_out += (
            NotCaptured(os.fsdecode(path), TOO_LARGE, found.st_size)
            for path, found in large.items()
            if path not in exempt
        )
        return storable, left_out

    def _look(self, inside: Beneath, path: bytes) -> tuple[os.stat_result | None, str | None]:
        try:
            found = inside.lstat(path)
        except PermissionError:
            return None, UNREADABLE
        return found, None if found is None else self._problem(path, found)

    def _problem(self, path: bytes, found: os.stat_result) -> str | None:
        if stat.S_ISLNK(found.st_mode):
            return None
        if stat.S_ISDIR(found.st_mode):
            return NESTED
        if not stat.S_ISREG(found.st_mode):
            return SPECIAL
        if found.st_mode & 0o444 != 0o444 and not _can_read(self.root, path):
            return UNREADABLE
        return None

    def _is_large(self, found: os.stat_result) -> bool:
        limit = self.max_file_size
        return limit is not None and stat.S_ISREG(found.st_mode) and found.st_size > limit


def changed_while_read(root: Path, found: Storable) -> list[bytes]:
    """Those paths that are not as they were found: what was read of them may be a mixture."""
    with Beneath(root) as inside:
        return [path for path, was in found.items() if _marks(was) != _marks(inside.lstat(path))]


def _marks(found: os.stat_result | None) -> tuple[int, ...] | None:
    if found is None:
        return None
    return found.st_ino, found.st_size, found.st_mode, found.st_mtime_ns, found.st_ctime_ns


def _can_read(root: Path, path: bytes) -> bool:
    return os.access(os.path.join(os.fsencode(root), path), os.R_OK, effective_ids=True)
