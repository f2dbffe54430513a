"""What differs between two states of a sandbox, in the words of a diff."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter

from backtrail.domain.rollback import DiffAction, FileChange
from backtrail.git.checkpoint.state import Captured, Glimpse, SandboxState
from backtrail.git.compare.diff import changed_files
from backtrail.git.metadata.model import Extras
from backtrail.git.osfiles.beneath import parents_of
from backtrail.git.osfiles.paths import exists_inside
from backtrail.git.store.objects import files_by_path, list_tree
from backtrail.git.store.store import PrivateStore


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


Entry = tuple[str, int]


def changed_included(
    store: PrivateStore, old: SandboxState, new: SandboxState
) -> tuple[FileChange, ...]:
    """Chosen files that differ; if others were chosen, only those that both states hold."""
    if old.included.tree == new.included.tree and old.extras.file_modes == new.extras.file_modes:
        return ()
    before, now = _entries(store, old), _entries(store, new)
    both = before.keys() & now.keys()
    names = both if old.included.rules != new.included.rules else {*before, *now}
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


def changes_between(
    store: PrivateStore, old: Captured | Glimpse, new: Captured | Glimpse
) -> tuple[FileChange, ...]:
    """Files that differ in content, kind or mode, and empty directories that came or went."""
    files = _with_ignored(store, old, new, changed_files(store, old.tree, new.tree))
    extras = changed_extras(store, old.state.extras, new.state.extras, new.tree, files)
    told = {change.file for change in files}
    chosen = (c for c in changed_included(store, old.state, new.state) if c.file not in told)
    return tuple(sorted((*files, *extras, *chosen), key=attrgetter("file")))


def _with_ignored(
    store: PrivateStore,
    old: Captured | Glimpse,
    new: Captured | Glimpse,
    files: tuple[FileChange, ...],
) -> tuple[FileChange, ...]:
    """The same, with what only left the tree of files told from what was deleted."""
    missing = [change.file for change in files if change.action is DiffAction.DELETED]
    if not missing:
        return files
    actions = dict.fromkeys(_ignored_among(new, missing), DiffAction.IGNORED)
    actions |= _chosen_among(store, old, new, missing)
    return tuple(
        replace(change, action=actions[change.file], added=None, removed=None)
        if change.file in actions
        else change
        for change in files
    )


def _ignored_among(new: Captured | Glimpse, missing: Sequence[str]) -> list[str]:
    """Of a directory that was ignored as a whole a checkpoint does not know what is in it."""
    root = new.root if isinstance(new, Glimpse) else None
    known = set(new.ignored if isinstance(new, Glimpse) else new.state.ignored.names)

    def is_inside(path: str) -> bool:
        above = (f"{os.fsdecode(parent)}/" for parent in parents_of(os.fsencode(path)))
        inside = any(directory in known for directory in above)
        return inside and (root is None or exists_inside(root, os.fsencode(path)))

    return [path for path in missing if path in known or is_inside(path)]


def _chosen_among(
    store: PrivateStore, old: Captured | Glimpse, new: Captured | Glimpse, missing: Sequence[str]
) -> dict[str, DiffAction]:
    """What is a chosen ignored file now: by its content it may have changed as well."""
    now = files_by_path(store, new.state.included.tree)
    chosen = [path for path in missing if os.fsencode(path) in now]
    then = files_by_path(store, old.tree) if chosen else {}
    return {
        path: DiffAction.IGNORED
        if then[os.fsencode(path)] == now[os.fsencode(path)]
        else DiffAction.MODIFIED
        for path in chosen
    }
