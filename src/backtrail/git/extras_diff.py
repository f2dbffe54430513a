"""What differs between two states beyond the contents of files: modes and empty directories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.domain.rollback import DiffAction, FileChange
from backtrail.git.trees import list_tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backtrail.git.extras import Extras
    from backtrail.git.store import PrivateStore


def changed_extras(
    store: PrivateStore, old: Extras, new: Extras, tree: str, known: Iterable[FileChange]
) -> tuple[FileChange, ...]:
    """Files of `tree` whose mode alone differs, and empty directories that came or went."""
    if old == new:
        return ()
    listed = {change.file for change in known}
    changes = [
        FileChange(name, DiffAction.MODE_CHANGED, 0, 0)
        for name in _with_other_mode(store, old, new, tree)
        if name not in listed
    ]
    before, now = set(old.empty_directories), set(new.empty_directories)
    changes += (FileChange(f"{d}/", DiffAction.ADDED, None, None) for d in now - before)
    changes += (FileChange(f"{d}/", DiffAction.DELETED, None, None) for d in before - now)
    return tuple(changes)


def _with_other_mode(store: PrivateStore, old: Extras, new: Extras, tree: str) -> list[str]:
    found = [
        f"{d or '.'}/"
        for d in _directories(old, new)
        if old.directory_mode(d) != new.directory_mode(d)
    ]
    if old.usual == new.usual and old.file_modes == new.file_modes:
        return found
    entries = ((os.fsdecode(e.path), e.mode_bits) for e in list_tree(store, tree) if e.is_file)
    return found + [
        name for name, mode in entries if old.file_mode(name, mode) != new.file_mode(name, mode)
    ]


def _directories(old: Extras, new: Extras) -> set[str]:
    found = {*old.directory_modes, *new.directory_modes, *(old.standing.keys() & new.standing)}
    return found if old.knows_root and new.knows_root else found - {""}
