"""Composing what a checkpoint says besides its files, from what the steps of a capture have found.

Looked at here are the modes that no inventory knows: of included files, of directories that hold
nothing but what is not captured, and of those that a restore is about to make or change. The last
are in no ordinary checkpoint; what a safety checkpoint does not know an undo cannot bring back.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from backtrail.domain.checkpoint import NotCaptured
from backtrail.git.capture.conflicts import Replacing
from backtrail.git.capture.included import IncludedCapture
from backtrail.git.ignore.eligibility import SET_BITS
from backtrail.git.ignore.ignored import Ignored, IgnoredNames, untouched, with_directories
from backtrail.git.metadata.inventory import Findings
from backtrail.git.metadata.model import Extras, exceptions
from backtrail.git.osfiles.beneath import PERMISSIONS, Beneath, parents_of
from backtrail.git.osfiles.paths import lstat_inside


@dataclass(frozen=True, slots=True)
class Observed:
    """What the steps of a capture have found in a sandbox."""

    root: Path
    left_out: Mapping[bytes, NotCaptured]
    """What is in no tree of files, although no rule ignores it."""
    ignored: Ignored
    inventory: Findings
    included: IncludedCapture
    not_whole: Sequence[NotCaptured]
    """Notes of git that name what could not be brought into the store."""
    replacing: Replacing
    coming: frozenset[bytes]
    """The directories of all that is about to be written."""
    empty_in_the_way: tuple[bytes, ...]
    """Empty directories in the place of what is about to be written."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a checkpoint says of a sandbox besides its files."""

    not_captured: tuple[NotCaptured, ...]
    extras: Extras
    ignored: IgnoredNames


def compose_metadata(seen: Observed) -> Metadata:
    """What is said of a sandbox in which this was found."""
    notes = (*seen.inventory.notes(), *seen.included.left_out, *seen.not_whole)
    noted = {**seen.left_out, **{os.fsencode(note.path): note for note in notes}}
    # Of a directory with something that is included, all else in it is named.
    taken = with_directories(map(os.fsdecode, seen.included.files))
    return Metadata(
        not_captured=tuple(note for _, note in sorted(noted.items())),
        extras=_with_replaced(seen, _with_included(seen, _with_holders(seen))),
        ignored=IgnoredNames.of(untouched(seen.root, seen.ignored.entries, taken)),
    )


def _with_holders(seen: Observed) -> Extras:
    """The inventory's extras, with directories that hold nothing but what is not captured."""
    extras, known = seen.inventory.extras, seen.inventory.memo.directories
    if not known:
        # A fresh checkout, of which little was looked at, holds nothing of the kind.
        return extras
    notes = (*seen.left_out.values(), *seen.inventory.notes())
    paths = (os.fsencode(note.path) for note in notes if note.reason != SET_BITS)
    above = {d for path in paths for d in parents_of(path) if os.fsdecode(d) not in known}
    return replace(extras, standing=_modes(seen.root, above))


def _with_included(seen: Observed, extras: Extras) -> Extras:
    """The extras, with what no rule would have captured: included files, empty directories."""
    files, empty = seen.included.files, seen.empty_in_the_way
    if not files and not empty:
        return extras
    directories = {*empty, *(parent for path in (*files, *empty) for parent in parents_of(path))}
    file_modes, directory_modes = _modes(seen.root, files), _modes(seen.root, directories)
    usual = extras.usual
    return replace(
        extras,
        file_modes={**extras.file_modes, **exceptions(file_modes, usual.of_file)},
        directory_modes={
            **extras.directory_modes,
            **exceptions(directory_modes, lambda _: usual.directory),
        },
        empty_directories=tuple(sorted({*extras.empty_directories, *map(os.fsdecode, empty)})),
    )


def _with_replaced(seen: Observed, extras: Extras) -> Extras:
    """The extras, with directories not in the inventory that are to be made or changed."""
    replacing = seen.replacing
    included = (*replacing.included, *replacing.going)
    for_included = {parent for path in included for parent in parents_of(path)}
    bare = _with_parents(replacing.bare_directories)
    leaving = _with_parents(replacing.absent_directories)
    empty: dict[str, int] = {}
    standing: dict[str, int] = {}
    absent: list[str] = []
    for path in sorted({*seen.coming, *for_included, *bare, *leaving}):
        name = os.fsdecode(path)
        if name in seen.inventory.memo.directories:
            continue
        found = lstat_inside(seen.root, path)
        if found is None or not stat.S_ISDIR(found.st_mode):
            # Directories that come with files go with them, unless these are ignored.
            absent += [name] if path in bare or path in for_included else []
        elif _is_empty(seen.root, path):
            empty[name] = found.st_mode & PERMISSIONS
        else:
            standing[name] = found.st_mode & PERMISSIONS
    return replace(
        extras,
        directory_modes={**extras.directory_modes, **empty},
        empty_directories=tuple(sorted({*extras.empty_directories, *empty})),
        standing={**extras.standing, **standing},
        absent=tuple(absent),
    )


def _with_parents(directories: Iterable[bytes]) -> set[bytes]:
    return {d for path in directories for d in (*parents_of(path), path)}


def _is_empty(root: Path, directory: bytes) -> bool:
    try:
        with Beneath(root) as inside, inside.scan(directory) as entries:
            return not entries
    except OSError:
        # It may not be read, or is something else by now.
        return False


def _modes(root: Path, paths: Iterable[bytes]) -> dict[str, int]:
    """Of those that are there and can be looked at."""
    modes: dict[str, int] = {}
    for path in sorted(paths):
        with suppress(PermissionError):
            found = lstat_inside(root, path)
            if found is not None:
                modes[os.fsdecode(path)] = found.st_mode & PERMISSIONS
    return modes
