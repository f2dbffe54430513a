"""The inventory of a sandbox that git has just checked out: all modes are what git gives.

Nothing but git has been there yet, so one file and one directory tell the modes of all. The next
capture looks at everything, as it reads every file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.git.bare_directories import survey
from backtrail.git.extras import PERMISSIONS, Extras, Usual
from backtrail.git.hidden_rules import read_rules_files
from backtrail.git.inventory import Findings
from backtrail.git.inventory_memo import InventoryMemo
from backtrail.git.walking import walk

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.git.listing import Untracked

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
