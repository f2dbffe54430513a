"""Inventories that need no look: of a fresh checkout, and of what a proof has just seen.

Nothing but git has been there yet, so one file and one directory tell the modes of all. The next
capture looks at everything, as it reads every file.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.git.ignore.rules import RULES_FILE, read_rules_files
from backtrail.git.metadata.cache import DirectoryNote, InventoryMemo, places_of_rules
from backtrail.git.metadata.inventory import Findings
from backtrail.git.metadata.model import Extras, Usual
from backtrail.git.metadata.uncaptured_directories import survey
from backtrail.git.osfiles.beneath import PERMISSIONS
from backtrail.git.osfiles.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from backtrail.git.ignore.untracked import Untracked
    from backtrail.git.osfiles.walk import DiskWalk


_READABLE = 0o444


def fresh_inventory(root: Path, untracked: Untracked) -> Findings:
    """What there is in a new checkout: usual modes, and empty directories for submodules."""
    bare = survey(root, untracked.directories)
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


_TOO_YOUNG_NS = 2_000_000_000


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
    young_from = now_ns - _TOO_YOUNG_NS
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
