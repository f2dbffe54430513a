"""Hard-linking the user's objects into the private store, instead of copying or borrowing them.

A link costs no disk and survives whatever the user's repository does with its own name for the
file. Where links cannot be made (another file system), objects are brought over by transfer.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

from backtrail.git.osfiles.plain_files import LONGEST_RULES, read_plain

_LOOSE_DIRECTORY = re.compile(r"[0-9a-f]{2}")
_LOOSE_NAME = re.compile(r"[0-9a-f]{38}|[0-9a-f]{62}")
_PACK = re.compile(r"(pack-[0-9a-f]{40,64})\.idx")
# The index goes last: a pack without one is invisible to git, never half there.
_PACK_SUFFIXES = (".pack", ".rev", ".promisor", ".idx")
_ALTERNATE_DEPTH = 5
_NO_LINKS = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP, errno.EACCES)


def link_objects(source: Path, target: Path) -> bool:
    """Link packs and loose objects that the target lacks; False if links cannot be made here."""
    try:
        for directory in _with_alternates(source, _ALTERNATE_DEPTH):
            _link_packs(directory / "pack", target / "pack")
            _link_loose(directory, target)
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


def _link_packs(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for entry in _names(source):
        match = _PACK.fullmatch(entry)
        if match and not (target / entry).exists():
            for suffix in _PACK_SUFFIXES:
                _link(source / (match[1] + suffix), target / (match[1] + suffix))


def _link_loose(source: Path, target: Path) -> None:
    for directory in filter(_LOOSE_DIRECTORY.fullmatch, _names(source)):
        wanted = [n for n in _names(source / directory) if _LOOSE_NAME.fullmatch(n)]
        present = set(_names(target / directory))
        missing = [name for name in wanted if name not in present]
        if missing:
            (target / directory).mkdir(exist_ok=True)
        for name in missing:
            _link(source / directory / name, target / directory / name)


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
