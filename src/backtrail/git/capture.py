"""One look at a sandbox, made into objects: its files and all that decides what they mean."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.git.gitstate import GitState, read_git_state
from backtrail.git.ignore import UserSettings, effective_excludes, excludes_setting
from backtrail.git.private_index import keep_index, working_index
from backtrail.git.replaced import refuse_unsaved, replaced_paths
from backtrail.git.snapshot import CaptureInputs, Snapshot
from backtrail.git.staged import start_staged_scan
from backtrail.git.transfer import bring_commit, bring_objects

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from backtrail.domain.checkpoint import NotCaptured
    from backtrail.domain.ids import CommitId, TreeId
    from backtrail.domain.plan import Sandbox
    from backtrail.git.store import PrivateStore


@dataclass(frozen=True, slots=True)
class Captured:
    """A state of a sandbox whose objects are in the store."""

    tree: TreeId
    git_state: GitState
    excludes: bytes
    staged: tuple[str, ...]
    """Blobs that only the user's index names."""
    not_captured: tuple[NotCaptured, ...] = ()
    forced: tuple[str, ...] = ()
    """Paths captured against the ignore rules, since a restore was about to replace them."""


@dataclass(frozen=True, slots=True)
class Camera:
    """Captures one sandbox into the store."""

    store: PrivateStore
    sandbox: Sandbox
    user: UserSettings

    def capture(
        self, *, replaced_by: tuple[TreeId, ...] = (), known_heads: tuple[CommitId, ...] = ()
    ) -> Captured:
        """Capture everything; with `replaced_by`, also whatever those trees' paths would replace.

        The caller holds the sandbox's lock: the private index is brought up to date, too.
        """
        started = time.time_ns()
        kept = self.store.layout.sandbox_index(self.sandbox.sandbox_id)
        with self._session(kept) as (captured, index):
            result = captured(replaced_by, known_heads)
            keep_index(index, kept, started_ns=started)
        return result

    def peek(self, *, replaced_by: tuple[TreeId, ...] = ()) -> Captured:
        """Capture without a lock and without changing the private index: for a mere look."""
        kept = self.store.layout.sandbox_index(self.sandbox.sandbox_id)
        with self._session(kept) as (captured, _):
            return captured(replaced_by, ())

    @contextmanager
    def _session(self, kept: Path) -> Generator[tuple[_Shot, Path]]:
        excludes = effective_excludes(self.store.common_dir, self.user)
        with (
            working_index(self.store, kept) as index,
            excludes_setting(self.store, excludes) as setting,
        ):
            yield _Shot(self, index, excludes, setting), index


@dataclass(frozen=True, slots=True)
class _Shot:
    camera: Camera
    index: Path
    excludes: bytes
    setting: str

    def __call__(
        self, replaced_by: tuple[TreeId, ...], known_heads: tuple[CommitId, ...]
    ) -> Captured:
        store, sandbox = self.camera.store, self.camera.sandbox
        state = read_git_state(sandbox.git_dir, sandbox.branch)
        self._bring_head(state, known_heads)
        user_index = self._copy_user_index(state)
        staged_scan = start_staged_scan(store, user_index, state.head_commit)
        git = store.git(sandbox.path, self.index)
        snapshot = Snapshot(git, CaptureInputs(sandbox.path, self.setting, user_index))
        snapshot.refresh()
        staged = staged_scan.blobs()
        bring_objects(store, staged)
        tree = snapshot.write_tree()
        forced: list[bytes] = []
        for target in replaced_by:
            forced += replaced_paths(store, sandbox.path, tree, target)
        if forced:
            snapshot.add(forced)
            refuse_unsaved(snapshot.not_captured, forced)
            tree = snapshot.write_tree()
        return Captured(
            tree=tree,
            git_state=state,
            excludes=self.excludes,
            staged=tuple(staged),
            not_captured=tuple(snapshot.not_captured.values()),
            forced=tuple(os.fsdecode(path) for path in forced),
        )

    def _bring_head(self, state: GitState, known_heads: tuple[CommitId, ...]) -> None:
        base = self.camera.sandbox.base_commit
        known = tuple(c for c in (base, *known_heads) if c)
        for commit in dict.fromkeys((state.head_commit, state.branch_commit)):
            if commit is not None and commit not in known:
                bring_commit(self.camera.store, commit, [base] if base else [])

    def _copy_user_index(self, state: GitState) -> Path | None:
        if state.index is None:
            return None
        copy = self.index.with_name("user-index")
        copy.write_bytes(state.index.content)
        return copy
