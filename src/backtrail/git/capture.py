"""One look at a sandbox, made into objects: its files and all that decides what they mean."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backtrail.git.gitstate import GitState, read_git_state
from backtrail.git.ignore import UserSettings, ask_excludes, excludes_setting
from backtrail.git.private_index import keep_index, trust, working_index
from backtrail.git.replaced import refuse_unsaved, replaced_paths
from backtrail.git.snapshot import CaptureInputs, Snapshot
from backtrail.git.staged import start_staged_scan
from backtrail.git.state_parts import storing_parts
from backtrail.git.transfer import bring_commit, bring_objects

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
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
    blobs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Ids of parts of the state that are in the store already, by their names there."""


@dataclass(frozen=True, slots=True)
class Camera:
    """Captures one sandbox into the store."""

    store: PrivateStore
    sandbox: Sandbox
    user: UserSettings

    def capture(
        self,
        *,
        replaced_by: tuple[TreeId, ...] = (),
        known_heads: tuple[CommitId, ...] = (),
        fresh_seed: bool = False,
    ) -> Captured:
        """Capture everything; with `replaced_by`, also whatever those trees' paths would replace.

        The caller holds the sandbox's lock: the private index is brought up to date, too.
        """
        began = time.time_ns()
        with (
            self._shot(replaced_by, known_heads) as shot,
            storing_parts(self.store, shot.state.index, shot.excludes) as parts,
        ):
            seed_date = trust(shot.index) if fresh_seed else None
            captured = shot.take()
            keep_index(shot.index, self._kept_index, began_ns=began, date_ns=seed_date)
            return replace(captured, blobs=parts.blobs())

    def peek(self, *, replaced_by: tuple[TreeId, ...] = ()) -> Captured:
        """Capture without a lock and without changing the private index: for a mere look."""
        with self._shot(replaced_by, ()) as shot:
            return shot.take()

    @property
    def _kept_index(self) -> Path:
        return self.store.layout.sandbox_index(self.sandbox.sandbox_id)

    @contextmanager
    def _shot(
        self, replaced_by: tuple[TreeId, ...], known_heads: tuple[CommitId, ...]
    ) -> Generator[_Shot]:
        question = ask_excludes(self.store.common_dir, self.user)
        state = read_git_state(self.sandbox.git_dir, self.sandbox.branch)
        excludes = question.answer()
        with (
            working_index(self.store, self._kept_index) as index,
            excludes_setting(self.store, excludes) as setting,
        ):
            yield _Shot(self, index, state, excludes, setting, replaced_by, known_heads)


@dataclass(frozen=True, slots=True)
class _Shot:
    """One capture, with everything it works on laid out."""

    camera: Camera
    index: Path
    state: GitState
    excludes: bytes
    setting: str
    replaced_by: tuple[TreeId, ...]
    known_heads: tuple[CommitId, ...]

    def take(self) -> Captured:
        store, sandbox = self.camera.store, self.camera.sandbox
        self._bring_head()
        user_index = self._copy_user_index()
        staged_scan = start_staged_scan(store, user_index, self.state.head_commit)
        snapshot = Snapshot(
            store.git(sandbox.path, self.index),
            CaptureInputs(sandbox.path, self.setting, user_index),
        )
        snapshot.refresh()
        staged = staged_scan.blobs()
        bring_objects(store, staged)
        tree = snapshot.write_tree()
        forced = self._force(snapshot, tree)
        return Captured(
            tree=snapshot.write_tree() if forced else tree,
            git_state=self.state,
            excludes=self.excludes,
            staged=tuple(staged),
            not_captured=tuple(snapshot.not_captured.values()),
            forced=tuple(os.fsdecode(path) for path in forced),
        )

    def _force(self, snapshot: Snapshot, tree: TreeId) -> list[bytes]:
        """Capture what the ignore rules kept out and the caller is about to replace."""
        forced: list[bytes] = []
        for target in self.replaced_by:
            forced += replaced_paths(self.camera.store, self.camera.sandbox.path, tree, target)
        if forced:
            snapshot.add(forced)
            refuse_unsaved(snapshot.not_captured, forced)
        return forced

    def _bring_head(self) -> None:
        base = self.camera.sandbox.base_commit
        for commit in dict.fromkeys((self.state.head_commit, self.state.branch_commit)):
            if commit is not None and commit not in (base, *self.known_heads):
                bring_commit(self.camera.store, commit, [base] if base else [])

    def _copy_user_index(self) -> Path | None:
        if self.state.index is None:
            return None
        copy = self.index.with_name("user-index")
        copy.write_bytes(self.state.index.content)
        return copy
