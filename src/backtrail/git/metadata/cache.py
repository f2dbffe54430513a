"""What the last inventory of a sandbox found, and the directories that hold captured files.

It only ever saves time: without one, every captured path is looked at again. It is written before
the index that it goes with, so that after a crash it knows of more changes, never of fewer.

A directory is read again only if it has changed since, or had changed too shortly before to be
believed. Its ctime tells: anybody can put an mtime back, as tar and `touch -r` do.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from backtrail.git.ignore.rules import RULES_FILE
from backtrail.git.metadata.model import Extras
from backtrail.git.osfiles.beneath import Beneath
from backtrail.git.osfiles.durable import read_checked, write_checked
from backtrail.git.osfiles.paths import is_special


@dataclass(frozen=True, slots=True)
class InventoryMemo:
    """An inventory, with what must not be believed the next time."""

    extras: Extras
    set_bits: tuple[str, ...]
    """Files and directories with bits that are not captured."""
    young: tuple[str, ...]
    """Files whose mode may change again without a change that git can see."""
    directories: dict[str, DirectoryNote]
    hidden_rules: tuple[str, ...] = ()
    """The .gitignore files beside captured files that are not captured themselves."""

    def write(self, path: Path) -> None:
        document = {
            "extras": self.extras.as_document(),
            "set_bits": self.set_bits,
            "young": self.young,
            "directories": self.directories,
            "hidden_rules": self.hidden_rules,
        }
        write_checked(path, json.dumps(document).encode())


def read_inventory_memo(path: Path) -> InventoryMemo | None:
    try:
        document = json.loads(read_checked(path) or b"")
        return InventoryMemo(
            extras=Extras.from_document(document["extras"]),
            set_bits=tuple(document["set_bits"]),
            young=tuple(document["young"]),
            directories={name: DirectoryNote(*n) for name, n in document["directories"].items()},
            hidden_rules=tuple(document["hidden_rules"]),
        )
    except (ValueError, TypeError, KeyError):
        # Lost, damaged, or of another version: everything is looked at anew.
        return None


# File systems date by clock ticks, and some by seconds.
TOO_YOUNG_NS = 2_000_000_000


class DirectoryNote(NamedTuple):
    """A directory as it was when its names were read."""

    mode: int
    ctime_ns: int
    read_at_ns: int
    special: Sequence[str] = ()
    """Entries that are neither file, link nor directory."""
    has_git: bool = False
    """Whether it holds an entry named `.git`."""
    has_rules: bool = False
    """Whether it holds an entry named `.gitignore`."""

    def is_current(self, found: os.stat_result) -> bool:
        aged = self.read_at_ns - self.ctime_ns > TOO_YOUNG_NS
        return aged and self.ctime_ns == found.st_ctime_ns


def noted_directories(
    root: Path, paths: Iterable[bytes], known: Mapping[str, DirectoryNote], now_ns: int
) -> dict[str, DirectoryNote]:
    """A note for each of the paths that is a directory."""
    notes: dict[str, DirectoryNote] = {}
    with Beneath(root) as inside:
        for path in paths:
            name = os.fsdecode(path)
            note = known.get(name)
            try:
                found = inside.lstat(path)
                if found is None or not stat.S_ISDIR(found.st_mode):
                    continue
                if note is None or not note.is_current(found):
                    note = _read(inside, path, found, now_ns)
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                # Gone, perhaps in this very moment, or out of reach.
                continue
            mode = stat.S_IMODE(found.st_mode)
            notes[name] = note if note.mode == mode else note._replace(mode=mode)
    return notes


def _read(inside: Beneath, path: bytes, found: os.stat_result, now_ns: int) -> DirectoryNote:
    try:
        with inside.scan(path) as entries:
            names = {entry.name: is_special(entry) for entry in entries}
    except PermissionError:
        # The listing has said so. What is in it has to be looked at again every time.
        return DirectoryNote(stat.S_IMODE(found.st_mode), found.st_ctime_ns, read_at_ns=0)
    return DirectoryNote(
        mode=stat.S_IMODE(found.st_mode),
        ctime_ns=found.st_ctime_ns,
        read_at_ns=now_ns,
        special=tuple(name for name, special in names.items() if special),
        has_git=".git" in names,
        has_rules=os.fsdecode(RULES_FILE) in names,
    )


def places_of_rules(notes: Mapping[str, DirectoryNote]) -> list[str]:
    """The .gitignore files in these directories."""
    name = os.fsdecode(RULES_FILE)
    return [os.path.join(path, name) for path, note in notes.items() if note.has_rules]
