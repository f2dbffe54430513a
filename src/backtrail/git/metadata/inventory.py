"""Finding what a tree cannot hold (modes, empty directories, special files) without a full walk.

A chmod changes a file's ctime, so git lists the file as changed: only listed files are looked at.
A new name changes its directory's ctime, so only directories with another one are read again.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import NotCaptured
from backtrail.git.ignore.eligibility import NESTED, REFUSED_NAME, SET_BITS, SPECIAL
from backtrail.git.ignore.rules import is_rules_file, read_rules_files
from backtrail.git.metadata.cache import (
    DirectoryNote,
    InventoryMemo,
    noted_directories,
    places_of_rules,
)
from backtrail.git.metadata.model import Extras, Usual, exceptions, usual_modes
from backtrail.git.metadata.uncaptured_directories import survey
from backtrail.git.osfiles.beneath import BEYOND_PERMISSIONS, PERMISSIONS, Beneath
from backtrail.git.user.discovery import nested_head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from backtrail.git.ignore.untracked import Lister, Untracked


# Git compares whole seconds: a chmod within the second of the last change would not be listed.
_TOO_YOUNG_NS = 2_000_000_000
_NOTHING = InventoryMemo(Extras(), (), (), {})


@dataclass(frozen=True, slots=True)
class Touched:
    """What a snapshot has done to the working index, and what it saw on the way."""

    added: tuple[bytes, ...]
    removed: tuple[bytes, ...]
    untracked: Untracked


@dataclass(frozen=True, slots=True)
class Findings:
    """An inventory: what goes into the checkpoint, what does not, and what to remember."""

    memo: InventoryMemo
    special: tuple[bytes, ...]
    """FIFOs and the like that no rule ignores."""
    lone_git: tuple[bytes, ...]
    """Entries named `.git` that belong to no repository."""
    hidden_rules: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The .gitignore files that are not captured, with what they say."""
    ignored_special: tuple[bytes, ...] = ()

    @property
    def extras(self) -> Extras:
        return self.memo.extras

    def notes(self) -> list[NotCaptured]:
        """What was seen and no checkpoint can hold."""
        repositories = [f"{path}/.git" for path in self.extras.repositories]
        return [
            *(NotCaptured(os.fsdecode(path), SPECIAL) for path in self.special),
            *(NotCaptured(os.fsdecode(path), REFUSED_NAME) for path in self.lone_git),
            *(NotCaptured(path, NESTED) for path in repositories),
            *(NotCaptured(path, SET_BITS) for path in self.memo.set_bits),
        ]


@dataclass(slots=True)
class Inventory:
    """One inventory; the working index is up to date already."""

    root: Path
    lister: Lister
    ignored: Callable[[Sequence[bytes]], set[bytes]]
    """Those of some paths that the ignore rules of the present ignore."""
    now_ns: int
    memo: InventoryMemo | None
    set_bits: set[str] = field(default_factory=set[str])
    young: list[str] = field(default_factory=list[str])

    def take(self, touched: Touched) -> Findings:
        known = self.memo or _NOTHING
        bare = survey(self.root, self._bare(touched))
        empty = [*bare.empty, *self._not_ignored_directories(bare.deeper)]
        left = set(known.extras.empty_directories).difference(map(os.fsdecode, empty))
        captured = self._captured() if self.memo is None or touched.removed or left else None
        notes = self._notes(known, touched.added, captured, empty)
        modes = self._modes(known, touched, captured)
        repositories, lone_git = self._repositories(
            {*bare.repositories, *touched.untracked.repositories}, notes
        )
        usual = known.extras.usual if self.memo else usual_modes(modes.values(), _bits(notes))
        extras = Extras(
            usual=usual,
            file_modes=self._file_modes(known, modes, usual, captured),
            directory_modes=_directory_modes(notes, usual),
            empty_directories=tuple(sorted(map(os.fsdecode, empty))),
            repositories=repositories,
        )
        self.set_bits |= {d for d, note in notes.items() if d and note.mode & BEYOND_PERMISSIONS}
        hidden = self._hidden_rules(known, touched, captured, notes)
        memo = InventoryMemo(extras, tuple(sorted(self.set_bits)), tuple(self.young), notes, hidden)
        texts = read_rules_files(self.root, [*map(os.fsencode, hidden), *bare.rules_files])
        special = self._special(notes, bare.special)
        ignored = self.ignored(special)
        return Findings(
            memo,
            tuple(path for path in special if path not in ignored),
            lone_git,
            texts,
            tuple(path for path in special if path in ignored),
        )

    def _captured(self) -> list[bytes]:
        return self.lister.git.call("ls-files", "-c", "-z").records()

    def _bare(self, touched: Touched) -> Sequence[bytes]:
        """Directories without an entry in the index as it is after the snapshot."""
        untracked = touched.untracked
        if touched.removed:
            return self.lister.without_entries(())
        if untracked.directories and untracked.files:
            return self.lister.without_entries(untracked.directories)
        return untracked.directories

    def _not_ignored_directories(self, found: Sequence[bytes]) -> list[bytes]:
        ignored = self.ignored([path + b"/" for path in found])
        return [path for path in found if path + b"/" not in ignored]

    def _notes(
        self,
        known: InventoryMemo,
        added: Iterable[bytes],
        captured: Sequence[bytes] | None,
        empty: Sequence[bytes],
    ) -> dict[str, DirectoryNote]:
        held = _above(added if captured is None else captured) | _above(empty) | {b"", *empty}
        if captured is None:
            held |= set(map(os.fsencode, known.directories))
        return noted_directories(self.root, sorted(held), known.directories, self.now_ns)

    def _modes(
        self, known: InventoryMemo, touched: Touched, captured: Sequence[bytes] | None
    ) -> dict[str, int]:
        """The modes of the files that have to be looked at, links left out."""
        if self.memo is None:
            return self._looked_at(captured or ())
        self.set_bits = set(known.set_bits)
        return self._looked_at({*touched.added, *map(os.fsencode, known.young)})

    def _there(self, paths: Iterable[bytes]) -> Iterator[tuple[bytes, os.stat_result]]:
        with Beneath(self.root) as inside:
            for path in paths:
                with suppress(PermissionError):
                    found = inside.lstat(path)
                    if found is not None:
                        yield path, found

    def _looked_at(self, paths: Iterable[bytes]) -> dict[str, int]:
        modes: dict[str, int] = {}
        for path, found in self._there(paths):
            name = os.fsdecode(path)
            self.set_bits.discard(name)
            if stat.S_ISREG(found.st_mode):
                modes[name] = found.st_mode & PERMISSIONS
                if found.st_mode & BEYOND_PERMISSIONS:
                    self.set_bits.add(name)
            if found.st_ctime_ns > self.now_ns - _TOO_YOUNG_NS:
                self.young.append(name)
        return modes

    def _file_modes(
        self,
        known: InventoryMemo,
        modes: dict[str, int],
        usual: Usual,
        captured: Sequence[bytes] | None,
    ) -> dict[str, int]:
        kept = {p: m for p, m in known.extras.file_modes.items() if p not in modes}
        if captured is not None:
            held = set(map(os.fsdecode, captured))
            kept = {path: mode for path, mode in kept.items() if path in held}
            self.set_bits &= held
        return kept | exceptions(modes, usual.of_file)

    def _repositories(
        self, found: set[bytes], notes: dict[str, DirectoryNote]
    ) -> tuple[dict[str, str], tuple[bytes, ...]]:
        """Nested repositories with their heads, and entries named .git that make none."""
        places = found | {os.fsencode(d) for d, note in notes.items() if d and note.has_git}
        heads = {place: nested_head(self.root, place) for place in sorted(places)}
        repositories = {os.fsdecode(p): head for p, head in heads.items() if head is not None}
        return repositories, tuple(p + b"/.git" for p, head in heads.items() if head is None)

    def _hidden_rules(
        self,
        known: InventoryMemo,
        touched: Touched,
        captured: Sequence[bytes] | None,
        notes: dict[str, DirectoryNote],
    ) -> tuple[str, ...]:
        """The .gitignore files beside captured files that are not captured; mostly as before."""
        places = places_of_rules(notes)
        if captured is None:
            moved = any(map(is_rules_file, (*touched.added, *touched.removed)))
            if not moved and set(places) == set(places_of_rules(known.directories)):
                return known.hidden_rules
            captured = self._captured()
        return tuple(sorted(set(places).difference(map(os.fsdecode, captured))))

    def _special(self, notes: dict[str, DirectoryNote], more: Sequence[bytes]) -> list[bytes]:
        names = ((d, name) for d, note in notes.items() for name in note.special)
        return sorted({*(os.fsencode(os.path.join(d, name)) for d, name in names), *more})


def _above(paths: Iterable[bytes]) -> set[bytes]:
    """The directories that hold the paths, at any depth."""
    found: set[bytes] = set()
    for path in paths:
        parent = path.rpartition(b"/")[0]
        while parent and parent not in found:
            found.add(parent)
            parent = parent.rpartition(b"/")[0]
    return found


def _directory_modes(notes: dict[str, DirectoryNote], usual: Usual) -> dict[str, int]:
    modes = {d: note.mode & PERMISSIONS for d, note in notes.items()}
    root = {d: mode for d, mode in modes.items() if not d}
    return exceptions(modes, lambda _: usual.directory) | root


def _bits(notes: dict[str, DirectoryNote]) -> list[int]:
    return [note.mode & PERMISSIONS for directory, note in notes.items() if directory]
