"""Walking a sandbox with nothing but the operating system: what is there, and of which kind."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backtrail.git.walking import entries_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_PERMISSIONS, _SET_BITS = 0o777, 0o7000


@dataclass(slots=True)
class DiskWalk:
    """Everything below a root but what is in `.git` and in the directories passed over."""

    files: dict[bytes, os.stat_result] = field(default_factory=dict[bytes, os.stat_result])
    """Whatever is no directory."""
    directories: dict[bytes, os.stat_result] = field(default_factory=dict[bytes, os.stat_result])
    """The root among them, with an empty name."""
    empty: set[bytes] = field(default_factory=set[bytes])
    git: set[bytes] = field(default_factory=set[bytes])
    """Entries named `.git` below the root."""
    special: list[bytes] = field(default_factory=list[bytes])
    """What is neither file, link nor directory."""
    with_set_bits: list[bytes] = field(default_factory=list[bytes])
    """Files with bits beyond the permissions."""
    closed: set[bytes] = field(default_factory=set[bytes])
    """Directories whose names cannot be read."""


def walk_disk(root: Path, passed_over: set[bytes]) -> DiskWalk:
    found = DiskWalk()
    found.directories[b""] = os.lstat(root)
    _walk(root, b"", passed_over, found)
    found.git.discard(b".git")
    return found


def look_for(
    root: Path, found: DiskWalk, directories: Iterable[bytes], files: Iterable[bytes]
) -> None:
    """Look for these by name in directories whose names cannot be read."""
    if not found.closed:
        return
    base = os.fsencode(root)
    for path in sorted(directories):
        if path not in found.directories and path.rpartition(b"/")[0] in found.closed:
            with suppress(OSError):
                info = os.lstat(os.path.join(base, path))
                if stat.S_ISDIR(info.st_mode):
                    found.directories[path] = info
                    _walk(root, path, set(), found)
    for path in files:
        if path not in found.files and path.rpartition(b"/")[0] in found.closed:
            with suppress(OSError):
                found.files[path] = os.lstat(os.path.join(base, path))


def _walk(root: Path, below: bytes, passed_over: set[bytes], found: DiskWalk) -> None:
    waiting = [below]
    while waiting:
        directory = waiting.pop()
        inside = entries_of(root, directory)
        if inside is None:
            # Neither empty nor known: what the goal has in there is looked for by name.
            found.closed.add(directory)
            continue
        if not inside and directory:
            found.empty.add(directory)
        try:
            waiting += _meet(directory, inside, passed_over, found)
        except OSError:
            # Out of reach, or gone meanwhile.
            found.closed.add(directory)


def _meet(
    directory: bytes,
    inside: list[os.DirEntry[bytes]],
    passed_over: set[bytes],
    found: DiskWalk,
) -> list[bytes]:
    """Take in what is in a directory; gives the directories among it."""
    deeper: list[bytes] = []
    above = directory + b"/" if directory else b""
    for entry in inside:
        path = above + entry.name
        if entry.name == b".git":
            found.git.add(path)
        elif path in passed_over:
            continue
        elif entry.is_dir(follow_symlinks=False):
            found.directories[path] = entry.stat(follow_symlinks=False)
            deeper.append(path)
        else:
            found.files[path] = info = entry.stat(follow_symlinks=False)
            if info.st_mode & ~_PERMISSIONS != stat.S_IFREG:
                _note_unusual(found, path, info.st_mode)
    return deeper


def _note_unusual(found: DiskWalk, path: bytes, mode: int) -> None:
    if mode & _SET_BITS:
        found.with_set_bits.append(path)
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        found.special.append(path)
