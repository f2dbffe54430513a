"""What differs between two states of a sandbox, in the words of a diff."""

from __future__ import annotations

import os
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from backtrail.domain.rollback import DiffAction, FileChange
from backtrail.git.capture import Glimpse
from backtrail.git.diff import changed_files
from backtrail.git.extras_diff import changed_extras
from backtrail.git.included import entries_of
from backtrail.git.included_diff import changed_included
from backtrail.git.paths import exists_inside, parents_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrail.git.capture import Captured
    from backtrail.git.store import PrivateStore


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
    now = entries_of(store, new.state.included.tree)
    chosen = [path for path in missing if os.fsencode(path) in now]
    then = entries_of(store, old.tree) if chosen else {}
    return {
        path: DiffAction.IGNORED
        if then[os.fsencode(path)] == now[os.fsencode(path)]
        else DiffAction.MODIFIED
        for path in chosen
    }
