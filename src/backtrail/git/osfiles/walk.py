"""Walking directories as deep as they go: making, deleting, and finding what is there.

Whoever works in a sandbox chooses how deep it is: nothing here calls itself, and a path may be
longer than the system takes.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from backtrail.git.osfiles.beneath import BEYOND_PERMISSIONS, PERMISSIONS, Beneath

Walked = tuple[bytes, list[os.DirEntry[bytes]]]


def walk(root: Path, below: bytes = b"", *, passing: bytes = b".git") -> Iterator[Walked]:
    """Each directory below the root that can be read, by its path, with what is in it.

    Links are not followed, and what is in a directory named `.git` is passed over.
    """
    waiting = [below]
    while waiting:
        directory = waiting.pop()
        entries = entries_of(root, directory)
        if entries is not None:
            yield directory, entries
            inner = (e for e in entries if e.name != passing and e.is_dir(follow_symlinks=False))
            waiting += [os.path.join(directory, entry.name) for entry in inner]


def walk_all(root: Path, below: bytes = b"") -> Iterator[Walked]:
    """The same, with what is in `.git`."""
    return walk(root, below, passing=b"")


def entries_of(root: Path, directory: bytes) -> list[os.DirEntry[bytes]] | None:
    """What is in a directory below the root; None if it is gone or cannot be read."""
    try:
        with os.scandir(os.path.join(os.fsencode(root), directory)) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return None


def make_directories(path: bytes) -> None:
    """Make a directory and those above it, as far as they are not there."""
    missing = [path]
    while missing:
        try:
            os.mkdir(missing[-1])
        except FileExistsError:
            pass
        except FileNotFoundError:
            missing.append(os.path.dirname(missing[-1]))
            continue
        missing.pop()


def delete_tree(root: Path) -> None:
    """Delete a directory with all that is in it, closed directories, too; links stay links.

    A directory in it is first moved up to its top, so that no path gets any longer.
    """
    prefix, count, waiting = secrets.token_hex(8), 0, [b""]
    with Beneath(root) as inside:
        while waiting:
            place = waiting.pop()
            inside.set_mode(place, stat.S_IRWXU, stat.S_ISDIR)
            with inside.scan(place) as entries:
                for name in (os.fsencode(entry.name) for entry in entries):
                    kind = inside.lstat(os.path.join(place, name))
                    directory, top = inside.directory(place), inside.directory(b"")
                    if kind is None or not stat.S_ISDIR(kind.st_mode):
                        os.unlink(name, dir_fd=directory)
                        continue
                    inside.set_mode(os.path.join(place, name), stat.S_IRWXU, stat.S_ISDIR)
                    count += 1
                    here = b".%s-%d" % (prefix.encode(), count)
                    directory = inside.directory(place)
                    os.rename(name, here, src_dir_fd=directory, dst_dir_fd=top)
                    waiting.append(here)
            if place:
                inside.remove_directory(place)
    root.rmdir()


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
            # What holds for nearly all of very many files is decided first.
            if info.st_mode & ~PERMISSIONS == stat.S_IFREG:
                continue
            if info.st_mode & BEYOND_PERMISSIONS:
                found.with_set_bits.append(path)
            if stat.S_IFMT(info.st_mode) not in (stat.S_IFREG, stat.S_IFLNK):
                found.special.append(path)
    return deeper
