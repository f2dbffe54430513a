"""One look at a sandbox, made into objects: its files and all that decides what they mean."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import CommitId
from backtrail.git.backdated import note_backdated, read_backdated
from backtrail.git.gitstate import GitState, read_git_state
from backtrail.git.ignore import UserSettings, ask_excludes, excludes_setting
from backtrail.git.private_index import keep_index, trust, working_index
from backtrail.git.replaced import refuse_unsaved, replaced_paths
from backtrail.git.snapshot import CaptureInputs, Snapshot
from backtrail.git.staged import start_staged_scan
from backtrail.git.state import SandboxState, encode_state, write_state
from backtrail.git.state_memo import StateMemo, digest, digest_of_inputs, read_memo
from backtrail.git.state_parts import StoringParts, storing_parts
from backtrail.git.transfer import bring_commit, bring_objects

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from backtrail.domain.ids import TreeId
    from backtrail.domain.plan import Sandbox
    from backtrail.git.store import PrivateStore


@dataclass(frozen=True, slots=True)
class Captured:
    """A state of a sandbox whose objects are in the store."""

    tree: TreeId
    state_commit: CommitId
    state: SandboxState


@dataclass(frozen=True, slots=True)
class Glimpse:
    """A look at a sandbox that is not kept."""

    tree: TreeId
    state: SandboxState


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
        with self._shot(known_heads) as shot:
            git_state, excludes = shot.git_state, shot.excludes
            inputs = digest_of_inputs(git_state, excludes)
            memo = read_memo(self._memo_file, inputs)
            with storing_parts(self.store, git_state.index, excludes, memo) as parts:
                seed_date = trust(shot.index) if fresh_seed else None
                shot.refresh(memo)
                try:
                    captured = shot.develop(parts, replaced_by, memo)
                except GitFailedError:
                    # Perhaps an object that the memo names is gone: the next look does without.
                    self.forget_memo()
                    raise
            kept, root = self._kept_index, self.sandbox.path
            # Before the index: a crash between the two must not leave an index without its list.
            note_backdated(kept, root, shot.snapshot.added, began_ns=began)
            keep_index(shot.index, kept, began_ns=began, date_ns=seed_date)
            self._remember(inputs, captured, parts)
        return captured

    def forget_memo(self) -> None:
        """Do not believe again what turned out to be incomplete."""
        self._memo_file.unlink(missing_ok=True)

    def _remember(self, inputs: str, captured: Captured, parts: StoringParts) -> None:
        document = digest(encode_state(captured.state))
        staged = list(captured.state.staged)
        memo = StateMemo(inputs, document, captured.state_commit, parts.blobs(), staged)
        memo.write(self._memo_file)

    def peek(self, *, replaced_by: tuple[TreeId, ...] = ()) -> Glimpse:
        """Look without a lock and without changing the private index."""
        with self._shot(()) as shot:
            shot.refresh(None)
            tree = shot.snapshot.write_tree()
            forced = shot.force(tree, replaced_by)
            state = shot.state(forced, replaced_by)
            return Glimpse(shot.snapshot.write_tree() if forced else tree, state)

    @property
    def _kept_index(self) -> Path:
        return self.store.layout.sandbox_index(self.sandbox.sandbox_id)

    @property
    def _memo_file(self) -> Path:
        return self._kept_index.with_name(f"{self._kept_index.name}.state")

    @contextmanager
    def _shot(self, known_heads: tuple[CommitId, ...]) -> Generator[_Shot]:
        question = ask_excludes(self.store.common_dir, self.user)
        with ExitStack() as stack:
            index = stack.enter_context(working_index(self.store, self._kept_index))
            git_state = read_git_state(self.sandbox.git_dir, self.sandbox.branch)
            excludes = question.answer()
            setting = stack.enter_context(excludes_setting(self.store, excludes))
            user_index = _copied(git_state, index.with_name("user-index"))
            snapshot = Snapshot(
                self.store.git(self.sandbox.path, index),
                CaptureInputs(self.sandbox.path, setting, user_index),
            )
            if index.exists():
                snapshot.forget(read_backdated(self._kept_index))
            yield _Shot(self, index, git_state, excludes, snapshot, known_heads)


@dataclass(slots=True)
class _Shot:
    """One capture, with everything it works on laid out."""

    camera: Camera
    index: Path
    git_state: GitState
    excludes: bytes
    snapshot: Snapshot
    known_heads: tuple[CommitId, ...]
    staged: tuple[str, ...] = ()

    def refresh(self, memo: StateMemo | None) -> None:
        """Bring the working index up to date, and the user's own objects into the store."""
        self._bring_head()
        looking = self.snapshot.start_look()
        if memo is not None:
            self.snapshot.refresh(looking)
            self.staged = tuple(memo.staged)
            return
        store, user_index = self.camera.store, self.snapshot.inputs.user_index
        scan = start_staged_scan(store, user_index, self.git_state.head_commit)
        self.snapshot.refresh(looking)
        self.staged = tuple(scan.blobs())
        bring_objects(store, self.staged)

    def develop(
        self, parts: StoringParts, replaced_by: tuple[TreeId, ...], memo: StateMemo | None
    ) -> Captured:
        """Write the tree and, beside it, the state commit."""
        writing = self.snapshot.start_write_tree()
        forced: list[bytes] = []
        if replaced_by:
            forced = self.force(self.snapshot.finish_write_tree(writing), replaced_by)
            writing = self.snapshot.start_write_tree()
        state = self.state(forced, replaced_by)
        state_commit = self._state_commit(state, parts, memo)
        return Captured(self.snapshot.finish_write_tree(writing), state_commit, state)

    def _state_commit(
        self, state: SandboxState, parts: StoringParts, memo: StateMemo | None
    ) -> CommitId:
        if memo is not None and memo.document == digest(encode_state(state)):
            return CommitId(memo.state_commit)
        base = self.camera.sandbox.base_commit
        return write_state(self.camera.store, state, parts.blobs(), base)

    def force(self, tree: TreeId, replaced_by: tuple[TreeId, ...]) -> list[bytes]:
        """Capture what the ignore rules kept out and the caller is about to replace."""
        store, root = self.camera.store, self.camera.sandbox.path
        forced = [p for target in replaced_by for p in replaced_paths(store, root, tree, target)]
        if forced:
            self.snapshot.add(forced)
            refuse_unsaved(self.snapshot.not_captured, forced)
        return forced

    def state(self, forced: list[bytes], accounted: tuple[TreeId, ...]) -> SandboxState:
        return SandboxState(
            git_state=self.git_state,
            excludes=self.excludes,
            staged=self.staged,
            not_captured=tuple(self.snapshot.not_captured.values()),
            forced=tuple(os.fsdecode(path) for path in forced),
            accounted=accounted,
        )

    def _bring_head(self) -> None:
        base = self.camera.sandbox.base_commit
        for commit in dict.fromkeys((self.git_state.head_commit, self.git_state.branch_commit)):
            if commit is not None and commit not in (base, *self.known_heads):
                bring_commit(self.camera.store, commit, [base] if base else [])


def _copied(state: GitState, path: Path) -> Path | None:
    if state.index is None:
        return None
    path.write_bytes(state.index.content)
    return path
