"""Bringing files back: what a restore would do, doing it, and the proof that it is done.

Only captured paths are ever removed, and of those none that the target's own ignore rules would
have ignored: such survivors are taken out of the private index first and stay on disk.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.rollback import RevertAction, RevertedFile
from backtrail.git.ignore import excludes_setting, ignored_at, scratch_directory
from backtrail.git.private_index import keep_index, working_index
from backtrail.git.snapshot import CaptureInputs, Snapshot
from backtrail.git.trees import list_tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backtrail.domain.checkpoint import NotCaptured
    from backtrail.domain.ids import TreeId
    from backtrail.domain.plan import Sandbox
    from backtrail.git.gitstate import UserIndex
    from backtrail.git.store import PrivateStore


@dataclass(frozen=True, slots=True)
class Goal:
    """The files that a restore is to bring about, and the rules by which it is judged."""

    tree: TreeId
    excludes: bytes
    index: UserIndex | None
    forced: tuple[str, ...]
    accounted: tuple[TreeId, ...] = ()
    """Trees whose paths, where the goal lacks them, are known to have been absent."""
    uncaptured: tuple[str, ...] = ()
    """Paths that were there and could not be captured: what is at or below them stays."""


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What a restore changes, and which captured paths it leaves alone."""

    goal: Goal
    changes: tuple[RevertedFile, ...]
    survivors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileProof:
    """What an independent second look found: paths that are not as they should be."""

    wrong: tuple[str, ...]
    not_captured: tuple[NotCaptured, ...]


def plan_files(store: PrivateStore, current: TreeId, goal: Goal) -> FilePlan:
    """Compare the captured present with the goal."""
    coming, going = _differences(store, current, goal.tree)
    free = _not_in_the_way(going, coming)
    survivors = ignored_at(store, goal.tree, goal.excludes, free)
    survivors -= _tracked(store, goal.index, survivors)
    survivors -= _known_absent(store, goal, survivors)
    uncaptured = {os.fsencode(path).rstrip(b"/") for path in goal.uncaptured}
    survivors |= {p for p in free if not uncaptured.isdisjoint((p, *_parents(p)))}
    changes = [(path, RevertAction.RESTORED) for path in coming]
    changes += [(path, RevertAction.REMOVED) for path in going if path not in survivors]
    return FilePlan(
        goal=goal,
        changes=tuple(RevertedFile(os.fsdecode(p), action) for p, action in sorted(changes)),
        survivors=tuple(os.fsdecode(p) for p in sorted(survivors)),
    )


def _differences(
    store: PrivateStore, current: TreeId, goal: TreeId
) -> tuple[list[bytes], list[bytes]]:
    """Paths that the goal brings, and paths that it does not have."""
    records = (
        store.git()
        .call("diff-tree", "-r", "-z", "--no-renames", "--name-status", current, goal)
        .records()
    )
    coming: list[bytes] = []
    going: list[bytes] = []
    for status, path in zip(records[::2], records[1::2], strict=True):
        (going if status == b"D" else coming).append(path)
    return coming, going


def _not_in_the_way(going: list[bytes], coming: list[bytes]) -> list[bytes]:
    """Paths that are neither a parent of a path that comes back nor below one."""
    wanted = set(coming)
    parents = {parent for path in coming for parent in _parents(path)}
    return [p for p in going if p not in parents and wanted.isdisjoint(_parents(p))]


def _parents(path: bytes) -> list[bytes]:
    parts = path.split(b"/")
    return [b"/".join(parts[:count]) for count in range(1, len(parts))]


def _tracked(store: PrivateStore, index: UserIndex | None, paths: set[bytes]) -> set[bytes]:
    """Those paths that the checkpoint's index tracks: for git they were never ignored."""
    if not paths or index is None:
        return set()
    with scratch_directory(store) as directory:
        copy = directory / "index"
        copy.write_bytes(index.content)
        listed = store.git(index=copy).call("ls-files", "-c", "-z").records()
    return paths.intersection(listed)


def _known_absent(store: PrivateStore, goal: Goal, paths: set[bytes]) -> set[bytes]:
    """Those paths that were looked for when the goal was captured, and were not there."""
    if not paths:
        return set()
    looked_for = {e.path for tree in goal.accounted for e in list_tree(store, tree)}
    return paths & looked_for


def restore_files(store: PrivateStore, sandbox: Sandbox, plan: FilePlan) -> None:
    """Make the sandbox's files those of the goal; the private index knows the present exactly."""
    began = time.time_ns()
    kept = store.layout.sandbox_index(sandbox.sandbox_id)
    with working_index(store, kept) as index:
        git = store.git(sandbox.path, index)
        survivors = [os.fsencode(path) for path in plan.survivors]
        Snapshot(git, CaptureInputs(sandbox.path, "", None)).forget(survivors)
        # Two trees, not --reset: git then refuses to touch a file that has changed since it was
        # captured, or one that has appeared since in the place of one that comes back.
        git.call("read-tree", "-m", "-u", git.call("write-tree").text, plan.goal.tree)
        keep_index(index, kept, began_ns=began)


def prove_files(
    store: PrivateStore, sandbox: Sandbox, plan: FilePlan, spared: Sequence[str]
) -> FileProof:
    """Look again, under the goal's own rules, and compare with the goal.

    Files that were ignored before the restore (`spared`, a directory with a trailing slash) and
    survivors may be there besides. Rules that they bring along do not hide what the goal has.
    The kept index is dated before the restore began, so that git compares the content of every
    file that the restore wrote, not only its dates.
    """
    goal = plan.goal
    kept = store.layout.sandbox_index(sandbox.sandbox_id)
    with (
        working_index(store, kept) as index,
        excludes_setting(store, goal.excludes) as setting,
    ):
        user_index = _copied(goal.index, index.with_name("user-index"))
        snapshot = Snapshot(
            store.git(sandbox.path, index), CaptureInputs(sandbox.path, setting, user_index)
        )
        snapshot.refresh(snapshot.start_look(), keep_ignored=True)
        seen = snapshot.write_tree()
    coming, going = _differences(store, seen, goal.tree) if seen != goal.tree else ([], [])
    may_stay = {os.fsencode(path).rstrip(b"/") for path in (*spared, *plan.survivors)}
    extra = [p for p in going if may_stay.isdisjoint((p, *_parents(p)))]
    return FileProof(
        wrong=tuple(os.fsdecode(path) for path in sorted({*coming, *extra})),
        not_captured=tuple(snapshot.not_captured.values()),
    )


def _copied(index: UserIndex | None, path: Path) -> Path | None:
    if index is None:
        return None
    path.write_bytes(index.content)
    return path
