"""What ignore rules keep out of a checkpoint: as git lists it, and what a checkpoint remembers.

Git does not go into directories that are ignored as a whole, however much is in them: each is one
entry. Of what is not captured a checkpoint keeps the names, so that what is gone later is told.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from backtrail.git.osfiles.beneath import parents_of
from backtrail.git.osfiles.paths import lstat_inside

NAMES_LIMIT = 1024**2
"""How many bytes of names a checkpoint keeps; directories come first."""


@dataclass(frozen=True)
class Ignored:
    """What is ignored and in no index, as `ls-files -o -i --directory` names it."""

    records: tuple[bytes, ...] = ()

    @cached_property
    def files(self) -> tuple[bytes, ...]:
        """Files and links, but for those in directories that a rule ignores."""
        return tuple(record for record in self.records if not record.endswith(b"/"))

    @cached_property
    def closed(self) -> tuple[bytes, ...]:
        """Directories that a rule ignores, with a slash: git has not looked into them."""
        named = [record for record in self.records if record.endswith(b"/")]
        if not named:
            return ()
        open_ones = {parent for r in self.records for parent in parents_of(r.rstrip(b"/"))}
        return tuple(directory for directory in named if directory[:-1] not in open_ones)

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """All of it; a directory that holds nothing else is one entry."""
        # Git names what is in such a directory once more, unless a rule ignores the directory.
        whole = {record[:-1] for record in self.records if record.endswith(b"/")}
        return tuple(
            os.fsdecode(record)
            for record in self.records
            if not whole or whole.isdisjoint(parents_of(record.rstrip(b"/")))
        )


def untouched(root: Path, entries: Iterable[str], touched: Collection[str]) -> Iterator[str]:
    """The entries without what is touched; of a directory that is, what else is in it."""
    waiting = list(entries)
    while waiting:
        path = waiting.pop()
        if path not in touched:
            yield path
        elif path.endswith("/"):
            waiting += _inside(root, path)


def with_directories(paths: Iterable[str]) -> set[str]:
    """The paths, and the directories above them with a slash."""
    found = set(paths)
    above = {parent for path in found for parent in parents_of(os.fsencode(path))}
    return found | {f"{os.fsdecode(parent)}/" for parent in above}


def _inside(root: Path, directory: str) -> list[str]:
    """The entries of a directory; an empty one among them says nothing of ignored files."""
    try:
        with os.scandir(root / directory) as entries:
            found = [e for e in entries if e.name != ".git"]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
    directories = {e.name for e in found if e.is_dir(follow_symlinks=False)}
    return [
        f"{directory}{e.name}/" if e.name in directories else f"{directory}{e.name}"
        for e in found
        if e.name not in directories or _holds_anything(e.path)
    ]


def _holds_anything(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return next(entries, None) is not None
    except OSError:
        return True


@dataclass(frozen=True, slots=True)
class IgnoredNames:
    """Names of ignored files that a checkpoint does not hold; a whole directory is one name."""

    names: tuple[str, ...] = ()
    more: int = 0
    """How many there were besides, of which the names were not kept."""

    @classmethod
    def of(cls, names: Iterable[str]) -> IgnoredNames:
        """As many of the names as a checkpoint keeps, the shortest account of the most first."""
        ordered = sorted(set(names), key=lambda name: (not name.endswith("/"), name))
        room, kept = NAMES_LIMIT, 0
        for name in ordered:
            room -= len(os.fsencode(name)) + 1
            if room < 0:
                break
            kept += 1
        return cls(tuple(sorted(ordered[:kept])), len(ordered) - kept)

    @classmethod
    def read(cls, text: bytes, document: Mapping[str, int] | None) -> IgnoredNames:
        """The inverse of `text`; the first checkpoints knew of no names."""
        names = tuple(map(os.fsdecode, text.split(b"\0")[:-1]))
        return cls(names, document["more"] if document else 0)

    @property
    def text(self) -> bytes:
        return b"".join(os.fsencode(name) + b"\0" for name in self.names)

    def gone(self, root: Path) -> list[str]:
        """Those in the place of which there is nothing of the kind any more."""
        return [name for name in self.names if not _is_there(root, os.fsencode(name))]


def _is_there(root: Path, name: bytes) -> bool:
    try:
        found = lstat_inside(root, name.rstrip(b"/"))
    except PermissionError:
        # What cannot be looked at is not said to be gone.
        return True
    return found is not None and stat.S_ISDIR(found.st_mode) == name.endswith(b"/")
