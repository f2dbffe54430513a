"""Which chosen ignored files differ between two states: by name alone, for they may be secrets."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.domain.rollback import DiffAction, FileChange
from backtrail.git.trees import list_tree

if TYPE_CHECKING:
    from backtrail.git.state import SandboxState
    from backtrail.git.store import PrivateStore

Entry = tuple[str, int]


def changed_included(
    store: PrivateStore, old: SandboxState, new: SandboxState
) -> tuple[FileChange, ...]:
    """Chosen files that differ; if others were chosen, only those that both states hold."""
    if old.included.tree == new.included.tree and old.extras.file_modes == new.extras.file_modes:
        return ()
    before, now = _entries(store, old), _entries(store, new)
    both = before.keys() & now.keys()
    names = both if old.included.choice != new.included.choice else {*before, *now}
    return tuple(
        FileChange(name, _action(before.get(name), now.get(name)), None, None)
        for name in sorted(names)
        if before.get(name) != now.get(name)
    )


def _entries(store: PrivateStore, state: SandboxState) -> dict[str, Entry]:
    """What each chosen file holds, and its full mode; a link has none."""
    found: dict[str, Entry] = {}
    for entry in list_tree(store, state.included.tree) if state.included.tree else []:
        name = os.fsdecode(entry.path)
        mode = state.extras.file_mode(name, entry.mode_bits) if entry.is_file else 0
        found[name] = (entry.object_id, mode)
    return found


def _action(before: Entry | None, now: Entry | None) -> DiffAction:
    if before is None:
        return DiffAction.ADDED
    if now is None:
        return DiffAction.DELETED
    return DiffAction.MODE_CHANGED if before[0] == now[0] else DiffAction.MODIFIED
