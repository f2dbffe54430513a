"""Restoring some paths alone: what comes with them, and the present with that in its place."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.errors import NotFoundError
from backtrail.domain.ids import TreeId
from backtrail.git.ignore import scratch_directory
from backtrail.git.paths import is_there, parents_of
from backtrail.git.runner import nul_joined
from backtrail.git.storing import take_out
from backtrail.git.trees import TreeEntry, list_tree

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from backtrail.git.capture import Captured, Glimpse
    from backtrail.git.store import PrivateStore


def selected_entries(
    store: PrivateStore, tree: TreeId | None, paths: Collection[str]
) -> tuple[TreeEntry, ...]:
    """The tree's entries that are one of the paths or lie below one."""
    entries = list_tree(store, tree) if tree else []
    return tuple(e for e in entries if selects(paths, os.fsdecode(e.path)))


def selects(paths: Collection[str], path: str) -> bool:
    """Whether a path is one of the paths or lies below one; of many paths a set is quickest."""
    if path in paths:
        return True
    end = path.rfind("/")
    while end > 0:
        if path[:end] in paths:
            return True
        end = path.rfind("/", 0, end)
    return False


@dataclass(frozen=True, slots=True)
class Arriving:
    """What comes when only some paths of a checkpoint are brought back."""

    paths: frozenset[str]
    """The paths that were asked for."""
    files: tuple[TreeEntry, ...]
    included: tuple[TreeEntry, ...]
    """Chosen ignored files."""
    bare_directories: tuple[str, ...]
    above: frozenset[str] = frozenset()
    """Directories above the paths that are to be, or not to be, as the checkpoint has them."""

    @property
    def entries(self) -> tuple[TreeEntry, ...]:
        return (*self.files, *self.included)

    def selects(self, path: str) -> bool:
        """Whether what is at a path now gives way to what comes."""
        return selects(self.paths, path)

    def takes_back(self, directory: str) -> bool:
        """Whether a directory is to be as the checkpoint has it."""
        return directory in self.above or self.selects(directory)

    def tree_from(self, store: PrivateStore, tree: TreeId, coming: Sequence[TreeEntry]) -> TreeId:
        """A tree of the present with some of what comes, and without what is in the way of all."""
        above = self._directories()
        leaving = [
            entry.path
            for entry in list_tree(store, tree)
            if entry.path in above or self.selects(os.fsdecode(entry.path))
        ]
        return _written(store, tree, leaving, coming)

    def _directories(self) -> set[bytes]:
        bare = set(map(os.fsencode, self.bare_directories))
        paths = (*bare, *(entry.path for entry in self.entries))
        return {parent for path in paths for parent in parents_of(path)} | bare


def selected_tree(store: PrivateStore, tree: TreeId, paths: Collection[str]) -> TreeId:
    """A tree of nothing but the entries that are one of the paths or lie below one."""
    return _written(store, None, (), selected_entries(store, tree, paths))


def _written(
    store: PrivateStore, tree: TreeId | None, leaving: Sequence[bytes], coming: Sequence[TreeEntry]
) -> TreeId:
    """A tree, or nothing at all, with some paths taken out and then some entries put in."""
    with scratch_directory(store) as directory:
        git = store.git(directory, directory / "index")
        if tree is not None:
            git.call("read-tree", tree)
        if leaving:
            take_out(git, list(leaving))
        if coming:
            lines = [b"%s %s 0\t%s" % (e.mode, e.name, e.path) for e in coming]
            git.call("update-index", "-z", "--add", "--index-info", stdin=nul_joined(lines))
        return TreeId(git.call("write-tree").text)


def whole_paths(store: PrivateStore, wanted: Captured, paths: tuple[str, ...]) -> tuple[str, ...]:
    """The paths; for one below a file of the checkpoint, that file.

    Only with it the path can be as it was, and then all that is beside the path has to go. Whoever
    takes that back needs to know.
    """
    above = {parent for path in paths for parent in parents_of(os.fsencode(path))}
    trees = [tree for tree in (wanted.tree, wanted.state.included.tree) if tree and above]
    files = {entry.path for tree in trees for entry in list_tree(store, tree)} & above

    def whole(path: str) -> str:
        places = (parent for parent in parents_of(os.fsencode(path)) if parent in files)
        return os.fsdecode(next(places, os.fsencode(path)))

    return tuple(dict.fromkeys(map(whole, paths)))


def refuse_unknown_paths(
    store: PrivateStore, root: Path, paths: Sequence[str], wanted: Captured, present: Glimpse
) -> None:
    """Refuse a path that neither the checkpoint nor a capture of the present has."""
    known: set[str] = set()
    for state in (wanted, present):
        extras, included = state.state.extras, state.state.included.tree
        trees = (state.tree, included)
        entries = [entry for tree in trees for entry in selected_entries(store, tree, set(paths))]
        names = {*(os.fsdecode(entry.path) for entry in entries), *extras.empty_directories}
        known |= names | {os.fsdecode(d) for n in names for d in parents_of(os.fsencode(n))}
    for path in paths:
        if path not in known:
            raise NotFoundError(
                f"{path!r} is {_why_unknown(root, path, wanted, present)}",
                hint="paths are relative to the sandbox; plan diff shows what differs",
                details={"path": path},
            )


def _why_unknown(root: Path, path: str, wanted: Captured, present: Glimpse) -> str:
    for state, words in ((wanted, "was not captured"), (present, "cannot be captured")):
        for note in state.state.not_captured:
            if note.path == path:
                return f"not in the checkpoint, and {words}: {note.reason}"
    if is_there(root, os.fsencode(path)):
        return "not in the checkpoint, and ignored, so that it is left alone"
    if {path, f"{path}/"}.intersection(wanted.state.ignored.names):
        return "not in the checkpoint: it was ignored, and not captured"
    return "neither in the checkpoint nor in the sandbox"
