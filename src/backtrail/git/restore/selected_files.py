"""Bringing chosen ignored files back, and what becomes of those that are there."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import TreeId
from backtrail.domain.plan import Sandbox
from backtrail.git.capture.included import included_index
from backtrail.git.capture.storing import take_in
from backtrail.git.checkpoint.state import Included
from backtrail.git.osfiles.beneath import parents_of
from backtrail.git.restore.switch import changed_meanwhile, switch_index
from backtrail.git.restore.writer import Look, Writer
from backtrail.git.store.objects import TreeEntry, empty_tree, files_by_path, tree_changes
from backtrail.git.store.store import PrivateStore, scratch_directory


@dataclass(frozen=True, slots=True)
class IncludedRestore:
    """Brings back the chosen ignored files of one sandbox."""

    store: PrivateStore
    sandbox: Sandbox

    def restore(
        self,
        writer: Writer,
        present: Sequence[TreeId | None],
        goal: TreeId | None,
        going: Iterable[bytes],
        staying: Callable[[set[bytes]], set[bytes]],
    ) -> None:
        """Write the goal's files and remove those that go, but no directory that is `staying`.

        What is there has to be in one of the trees that hold the present, or to be what the goal
        has there: nothing else may be written over.
        """
        after = files_by_path(self.store, goal)
        touched = [*after, *going]
        if not touched:
            return
        held = [after, *(files_by_path(self.store, tree) for tree in present)]
        look = writer.look(touched)
        self._refuse_directories(after, look)
        with scratch_directory(self.store) as scratch:
            index, root = scratch / "index", self.sandbox.path
            git = self.store.git(root, index)
            take_in(git, root, touched)
            now = git.call("write-tree").text
            self._refuse_changed(held, now)
            wanted = goal or empty_tree(len(now))
            changes = tree_changes(self.store, now, wanted)
            switch_index(git, root, now, wanted)
            writer.change(changes, look, index, staying)
        included_index(self.store, self.sandbox).unlink(missing_ok=True)

    def _refuse_directories(self, paths: Iterable[bytes], look: Look) -> None:
        # What was in the way is gone by now.
        for path in paths:
            found = look.found[path]
            if found is not None and stat.S_ISDIR(found.st_mode):
                raise GitFailedError(f"{os.fsdecode(path)!r} has become a directory meanwhile")

    def _refuse_changed(self, held: Sequence[dict[bytes, tuple[bytes, str]]], now: str) -> None:
        for path, entry in files_by_path(self.store, TreeId(now)).items():
            if not any(entries.get(path) == entry for entries in held):
                raise changed_meanwhile([path])


@dataclass(frozen=True, slots=True)
class IncludedMoves:
    """What becomes of the chosen ignored files of the present, and which ones come."""

    coming: set[bytes]
    """New, or with another content."""
    going: set[bytes]
    staying: set[bytes]
    """Those that the goal does not have and that need not go."""
    present: dict[bytes, tuple[bytes, str]]
    """All that are there now, with mode and content."""

    @property
    def directories(self) -> set[bytes]:
        """The directories that hold chosen files now."""
        return {parent for path in self.present for parent in parents_of(path)}

    def in_the_way(
        self,
        files: Iterable[TreeEntry],
        chosen: Iterable[TreeEntry],
        directories: Iterable[bytes],
    ) -> set[bytes]:
        """Those that are where the goal has a directory, or another file at or above them."""
        if not self.present:
            return set()
        others = {entry.path for entry in chosen if entry.path not in self.present}
        taken, bare = others.union(entry.path for entry in files), set(directories)
        return {
            path
            for path in self.present
            if path in bare or any(p in taken for p in (path, *parents_of(path)))
        }


def included_moves(store: PrivateStore, now: Included, goal: Included) -> IncludedMoves:
    before, after = files_by_path(store, now.tree), files_by_path(store, goal.tree)
    going = {os.fsencode(path) for path in goal.absent} & before.keys()
    return IncludedMoves(
        coming={path for path, entry in after.items() if before.get(path) != entry},
        going=going,
        staying=before.keys() - after.keys() - going,
        present=before,
    )
