"""Telling an interrupted restore from somebody's work: modes and empty directories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.git.restore_extras import directories_of
from backtrail.git.trees import list_tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backtrail.domain.ids import TreeId
    from backtrail.git.capture import Captured
    from backtrail.git.extras import Extras
    from backtrail.git.restore import Goal
    from backtrail.git.store import PrivateStore
    from backtrail.git.trees import TreeEntry

# What a file that git has just written may have, whatever the umask is.
_AS_WRITTEN = {0o666 & ~umask for umask in (0o000, 0o002, 0o007, 0o022, 0o027, 0o077)} | {
    0o777 & ~umask for umask in (0o000, 0o002, 0o007, 0o022, 0o027, 0o077)
}


def foreign_extras(store: PrivateStore, now: Captured, before: Captured, goal: Goal) -> list[str]:
    """Files with a mode, and empty directories, that neither state has nor a restore makes."""
    entries = list_tree(store, now.tree)
    found = [
        os.fsdecode(entry.path)
        for entry in entries
        if entry.is_file and _has_foreign_mode(entry, now, before, goal)
    ]
    known = _directories(store, (before.tree, before.state.included.tree), before.state.extras)
    known |= _directories(store, (goal.tree, goal.included.tree), goal.extras)
    empty = now.state.extras.empty_directories
    return found + [f"{path}/" for path in empty if os.fsencode(path) not in known]


def _directories(store: PrivateStore, trees: Iterable[TreeId | None], extras: Extras) -> set[bytes]:
    files = (entry.path for tree in trees if tree for entry in list_tree(store, tree))
    return directories_of(files, extras)


def _has_foreign_mode(entry: TreeEntry, now: Captured, before: Captured, goal: Goal) -> bool:
    name, mode = os.fsdecode(entry.path), entry.mode_bits
    expected = {e.file_mode(name, mode) for e in (before.state.extras, goal.extras)}
    return now.state.extras.file_mode(name, mode) not in expected | _AS_WRITTEN
