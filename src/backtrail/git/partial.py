"""A tree with some paths taken from another tree, for restoring those paths alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.domain.errors import NotFoundError
from backtrail.domain.ids import TreeId
from backtrail.git.ignore import scratch_directory
from backtrail.git.runner import nul_joined
from backtrail.git.trees import TreeEntry, list_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrail.git.capture import Captured, Glimpse
    from backtrail.git.store import PrivateStore


def selected_entries(store: PrivateStore, tree: TreeId, paths: Sequence[str]) -> list[TreeEntry]:
    """The tree's entries that are one of the paths or lie below one."""
    return [e for e in list_tree(store, tree) if selects(paths, os.fsdecode(e.path))]


def selects(paths: Sequence[str], path: str) -> bool:
    """Whether a path is one of the paths or lies below one."""
    return any(path == selection or path.startswith(f"{selection}/") for selection in paths)


def _in_place_of_parents(
    store: PrivateStore, tree: TreeId, paths: Sequence[str]
) -> list[TreeEntry]:
    """Files of the tree that stand where a selected path has a parent directory."""
    wanted = [os.fsencode(path) for path in paths]
    return [e for e in list_tree(store, tree) if any(p.startswith(e.path + b"/") for p in wanted)]


def tree_with_paths_from(
    store: PrivateStore, tree: TreeId, source: TreeId, paths: Sequence[str]
) -> TreeId:
    """`tree`, with everything under the paths as it is in `source`."""
    coming = selected_entries(store, source, paths) + _in_place_of_parents(store, source, paths)
    leaving = selected_entries(store, tree, [*paths, *(os.fsdecode(e.path) for e in coming)])
    with scratch_directory(store) as directory:
        git = store.git(directory, directory / "index")
        git.call("read-tree", tree)
        if leaving:
            removed = nul_joined([entry.path for entry in leaving])
            git.call("update-index", "-z", "--force-remove", "--stdin", stdin=removed)
        if coming:
            lines = [b"%s %s 0\t%s" % (e.mode, e.object_id.encode(), e.path) for e in coming]
            git.call(
                "update-index", "-z", "--add", "--replace", "--index-info", stdin=nul_joined(lines)
            )
        return TreeId(git.call("write-tree").text)


def refuse_unknown_paths(
    store: PrivateStore, paths: Sequence[str], states: Sequence[Captured | Glimpse]
) -> None:
    """Refuse a path that none of the states has."""
    known: list[str] = []
    for state in states:
        extras, included = state.state.extras, state.state.included.tree
        trees = [state.tree, *([included] if included else [])]
        entries = [entry for tree in trees for entry in selected_entries(store, tree, paths)]
        known += (os.fsdecode(entry.path) for entry in entries)
        known += extras.empty_directories
    for path in paths:
        if not any(selects([path], name) for name in known):
            raise NotFoundError(
                f"{path!r} is neither in the checkpoint nor in the sandbox",
                hint="paths are relative to the sandbox; plan diff shows what differs",
                details={"path": path},
            )
