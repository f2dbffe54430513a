"""Hard-linking the user's objects into the private store, instead of copying or borrowing them.

A link costs no disk and survives whatever the user's repository does with its own name for the
file. Where links cannot be made (another file system), objects are brought over by transfer.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.git.osfiles.plain_files import LONGEST_RULES, read_plain
from backtrail.git.store.own_files import move_aside

if TYPE_CHECKING:
    from collections.abc import Callable

_LOOSE_DIRECTORY = re.compile(r"[0-9a-f]{2}")
_LOOSE_NAME = re.compile(r"[0-9a-f]{38}|[0-9a-f]{62}")
_PACK = re.compile(r"(pack-[0-9a-f]{40,64})\.idx")
# The index goes last: a pack without one is invisible to git, never half there.
_PACK_SUFFIXES = (".pack", ".rev", ".promisor", ".idx")
_ALTERNATE_DEPTH = 5
_NO_LINKS = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.EACCES)


def link_objects(source: Path, target: Path, move_aside: Callable[[Path, str], None]) -> bool:
    """Link packs and loose objects that the target lacks; False if links cannot be made here.

    An empty file in the place of an object is given to `move_aside`, with the object's id.
    """
    try:
        for directory in _with_alternates(source, _ALTERNATE_DEPTH):
            _link_packs(directory / "pack", target / "pack")
            _link_loose(directory, target, move_aside)
    except OSError as error:
        if error.errno in _NO_LINKS:
            return False
        raise
    return True


def _with_alternates(objects: Path, depth: int) -> list[Path]:
    found = [objects]
    alternates = objects / "info" / "alternates"
    if depth and alternates.is_file():
        for line in read_plain(alternates, LONGEST_RULES).splitlines():
            if line and not line.startswith(b"#"):
                found += _with_alternates(objects / os.fsdecode(line), depth - 1)
    return found


def link_pack_again(source: Path, target: Path, pack: str, aside: Path) -> bool:
    """Have the user's own files of a pack instead of others; whether there were any others."""
    pairs = [(source / (pack + suffix), target / (pack + suffix)) for suffix in _PACK_SUFFIXES]
    try:
        others = [(s, t) for s, t in pairs if s.exists() and t.exists() and not s.samefile(t)]
        for theirs, ours in others:
            # Beside it first: where links cannot be made, nothing is done.
            linked = ours.with_name(f"{ours.name}.tmp")
            os.link(theirs, linked, follow_symlinks=False)
            move_aside(ours, aside)
            linked.rename(ours)
    except OSError:
        return False
    return bool(others)


def _link_packs(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for entry in _names(source):
        match = _PACK.fullmatch(entry)
        if match and not (target / entry).exists():
            for suffix in _PACK_SUFFIXES:
                _link(source / (match[1] + suffix), target / (match[1] + suffix))


def _link_loose(source: Path, target: Path, move_aside: Callable[[Path, str], None]) -> None:
    for directory in filter(_LOOSE_DIRECTORY.fullmatch, _names(source)):
        wanted = _inodes(source / directory)
        present = _inodes(target / directory)
        # What is the same file needs no look, and that is nearly all.
        others = [name for name in wanted.keys() & present if wanted[name] != present[name]]
        for name in filter(_LOOSE_NAME.fullmatch, others):
            theirs, ours = source / directory / name, target / directory / name
            # What else is damaged git complains of. Another process may be at it as well.
            with suppress(FileNotFoundError):
                if not ours.lstat().st_size and theirs.lstat().st_size:
                    move_aside(ours, directory + name)
                    del present[name]
        missing = [n for n in wanted if n not in present and _LOOSE_NAME.fullmatch(n)]
        if missing:
            (target / directory).mkdir(exist_ok=True)
        for name in missing:
            _link(source / directory / name, target / directory / name)


def _inodes(directory: Path) -> dict[str, int]:
    try:
        with os.scandir(directory) as found:
            return {entry.name: entry.inode() for entry in found}
    except (FileNotFoundError, NotADirectoryError):
        return {}


def _link(source: Path, target: Path) -> None:
    # The user's gc may take a file away while we look, and another plan may link it first.
    try:
        found = source.lstat()
        # A power loss may leave an empty file under an object's name; it must not pass for one.
        if stat.S_ISREG(found.st_mode) and found.st_size:
            os.link(source, target, follow_symlinks=False)
    except (FileNotFoundError, FileExistsError):
        return


def _names(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return []
