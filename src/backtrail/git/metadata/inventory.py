"""Finding what a tree cannot hold (modes, empty directories, special files) without a full walk.

A chmod changes a file's ctime, so git lists the file as changed: only listed files are looked at.
A new name changes its directory's ctime, so only directories with another one are read again. What
nothing but git has written, or a proof has just seen, needs no look at all.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from backtrail.domain.checkpoint import NotCaptured
from backtrail.git.ignore.eligibility import NESTED, REFUSED_NAME, SET_BITS, SPECIAL
from backtrail.git.ignore.evaluate import ignored_here
from backtrail.git.ignore.rules import RULES_FILE, is_rules_file, read_rules_files
from backtrail.git.ignore.untracked import Lister, Untracked
from backtrail.git.metadata.cache import (
    TOO_YOUNG_NS,
    DirectoryNote,
    InventoryMemo,
    noted_directories,
    places_of_rules,
)
from backtrail.git.metadata.model import Extras, Usual, exceptions, usual_modes
from backtrail.git.osfiles.beneath import BEYOND_PERMISSIONS, PERMISSIONS, Beneath
from backtrail.git.osfiles.paths import is_special
from backtrail.git.osfiles.walk import DiskWalk, walk
from backtrail.git.user.discovery import nested_head

_READABLE = 0o444
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

    lister: Lister
    now_ns: int
    memo: InventoryMemo | None
    set_bits: set[str] = field(default_factory=set[str])
    young: list[str] = field(default_factory=list[str])

    def take(self, touched: Touched) -> Findings:
        known = self.memo or _NOTHING
        bare = _survey(self.lister.root, self._bare(touched))
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
        texts = read_rules_files(self.lister.root, [*map(os.fsencode, hidden), *bare.rules_files])
        special = self._special(notes, bare.special)
        ignored = self._ignored(special)
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
        ignored = self._ignored([path + b"/" for path in found])
        return [path for path in found if path + b"/" not in ignored]

    def _ignored(self, paths: Sequence[bytes]) -> set[bytes]:
        return ignored_here(self.lister.store, self.lister.root, self.lister.rules, paths)

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
        return noted_directories(self.lister.root, sorted(held), known.directories, self.now_ns)

    def _modes(
        self, known: InventoryMemo, touched: Touched, captured: Sequence[bytes] | None
    ) -> dict[str, int]:
        """The modes of the files that have to be looked at, links left out."""
        if self.memo is None:
            return self._looked_at(captured or ())
        self.set_bits = set(known.set_bits)
        return self._looked_at({*touched.added, *map(os.fsencode, known.young)})

    def _there(self, paths: Iterable[bytes]) -> Iterator[tuple[bytes, os.stat_result]]:
        with Beneath(self.lister.root) as inside:
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
            # Git compares whole seconds: a further chmod in this one would not be listed.
            if found.st_ctime_ns > self.now_ns - TOO_YOUNG_NS:
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
        heads = {place: nested_head(self.lister.root, place) for place in sorted(places)}
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


@dataclass(slots=True)
class _BareDirectories:
    """What was found in directories without captured files."""

    empty: list[bytes] = field(default_factory=list[bytes])
    """Directories with no entry at all; git itself says of these that no rule ignores them."""
    deeper: list[bytes] = field(default_factory=list[bytes])
    """The same, found below such a directory: the ignore rules have still to be asked."""
    special: list[bytes] = field(default_factory=list[bytes])
    repositories: list[bytes] = field(default_factory=list[bytes])
    rules_files: list[bytes] = field(default_factory=list[bytes])
    """The .gitignore files in them: each hides itself, or is hidden by one further up."""


def _survey(root: Path, directories: Sequence[bytes]) -> _BareDirectories:
    """Read the directories to the bottom: their files, if they have any, are ignored ones."""
    found = _BareDirectories()
    for directory in directories:
        for place, entries in walk(root, directory):
            if not entries:
                (found.empty if place == directory else found.deeper).append(place)
            _note(found, place, entries)
    return found


def _note(found: _BareDirectories, place: bytes, entries: Sequence[os.DirEntry[bytes]]) -> None:
    for entry in entries:
        path = os.path.join(place, entry.name)
        if entry.name == b".git":
            found.repositories.append(place)
        elif is_special(entry):
            found.special.append(path)
        elif entry.name == RULES_FILE:
            found.rules_files.append(path)


def fresh_inventory(root: Path, untracked: Untracked) -> Findings:
    """What there is in a new checkout: usual modes, and empty directories for submodules.

    Nothing but git has been there yet, so one file and one directory tell the modes of all. The
    next capture looks at everything, as it reads every file.
    """
    bare = _survey(root, untracked.directories)
    empty = bare.empty
    extras = Extras(
        usual=_usual(root),
        directory_modes={"": root.stat().st_mode & PERMISSIONS},
        empty_directories=tuple(map(os.fsdecode, sorted(empty))),
    )
    texts = read_rules_files(root, bare.rules_files)
    return Findings(InventoryMemo(extras, (), (), {}), (), (), texts)


def _usual(root: Path) -> Usual:
    standard = Usual()
    file, directory = _first_modes(root)
    plain = standard.file if file is None else file & ~0o111
    return Usual(
        file=plain,
        # Git lets those execute who may read.
        executable=plain | (plain & _READABLE) >> 2,
        directory=standard.directory if directory is None else directory,
    )


def _first_modes(root: Path) -> tuple[int | None, int | None]:
    """The modes of the first file and the first directory that are met."""
    file = directory = None
    for _, entries in walk(root):
        for entry in entries:
            if entry.name == b".git" or entry.is_symlink():
                continue
            mode = entry.stat(follow_symlinks=False).st_mode & PERMISSIONS
            if not entry.is_dir(follow_symlinks=False):
                file = mode if file is None else file
            elif directory is None:
                directory = mode
        if file is not None:
            break
    return file, directory


def proven_inventory(
    seen: DiskWalk,
    extras: Extras,
    files: set[bytes],
    directories: Iterable[bytes],
    now_ns: int,
) -> InventoryMemo:
    """The inventory of a sandbox whose captured files and directories have been proven."""
    captured = seen.files.keys() & files
    special = _by_directory(seen.special)
    notes = {
        os.fsdecode(path): DirectoryNote(
            mode=stat.S_IMODE(found.st_mode),
            ctime_ns=found.st_ctime_ns,
            read_at_ns=now_ns,
            special=tuple(special[path]),
            has_git=os.path.join(path, b".git") in seen.git,
            has_rules=os.path.join(path, RULES_FILE) in seen.files,
        )
        for path, found in ((d, seen.directories.get(d)) for d in directories)
        if found is not None
    }
    modes = {p: m for p, m in extras.file_modes.items() if os.fsencode(p) in captured}
    young_from = now_ns - TOO_YOUNG_NS
    young = (path for path in captured if seen.files[path].st_ctime_ns > young_from)
    odd = (path for path in seen.with_set_bits if path in captured)
    return InventoryMemo(
        extras=replace(extras, file_modes=modes),
        set_bits=tuple(map(os.fsdecode, odd)),
        young=tuple(map(os.fsdecode, young)),
        directories=notes,
        hidden_rules=tuple(sorted(set(places_of_rules(notes)).difference(map(os.fsdecode, files)))),
    )


def _by_directory(paths: Iterable[bytes]) -> Mapping[bytes, list[str]]:
    found: defaultdict[bytes, list[str]] = defaultdict(list)
    for path in paths:
        directory, _, name = path.rpartition(b"/")
        found[directory].append(os.fsdecode(name))
    return found
