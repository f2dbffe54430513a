"""One capture in progress: files, then what no tree can hold, then the state of both."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backtrail.domain.ids import CommitId
from backtrail.git.bystanders import with_bystanders
from backtrail.git.extras import PERMISSIONS, Extras, exceptions
from backtrail.git.fresh_inventory import fresh_inventory
from backtrail.git.gitstate import under_way
from backtrail.git.included import Included, IncludedCamera, chosen_files, entries_of
from backtrail.git.inventory import Findings, Inventory
from backtrail.git.judging import ignored_here
from backtrail.git.paths import exists_inside, lstat_inside, parents_of
from backtrail.git.replaced import refuse_unsaved, replaced_paths
from backtrail.git.staged import start_staged_scan
from backtrail.git.state import SandboxState, encode_state, write_state
from backtrail.git.state_memo import digest
from backtrail.git.stuck import refuse_endless_among
from backtrail.git.transfer import bring_commit, bring_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from backtrail.domain.capture import CaptureRules
    from backtrail.domain.checkpoint import NotCaptured
    from backtrail.domain.ids import TreeId
    from backtrail.domain.plan import Sandbox
    from backtrail.git.gitstate import GitState
    from backtrail.git.ignore import IgnoreRules
    from backtrail.git.inventory_memo import InventoryMemo
    from backtrail.git.replaced import Replacing
    from backtrail.git.snapshot import Looking, Snapshot
    from backtrail.git.state_memo import StateMemo
    from backtrail.git.state_parts import StoringParts
    from backtrail.git.store import PrivateStore


@dataclass(slots=True)
class Shot:
    """Everything that one capture works on, laid out."""

    store: PrivateStore
    sandbox: Sandbox
    rules: CaptureRules
    index: Path
    git_state: GitState
    ignore_rules: IgnoreRules
    snapshot: Snapshot
    looking: Looking
    known_heads: tuple[CommitId, ...]
    known_inventory: InventoryMemo | None
    seed_date: int | None = None
    """The date of a seed that can be trusted: git has just checked everything out."""
    staged: tuple[str, ...] = ()
    _findings: Findings | None = field(default=None)

    @property
    def inventory(self) -> InventoryMemo | None:
        """What to remember; nothing of a fresh checkout, of which little was looked at."""
        return self._findings.memo if self._findings else None

    def refresh(self, memo: StateMemo | None) -> None:
        """Bring the working index up to date, and the user's own objects into the store."""
        self._bring_head()
        if memo is not None:
            self.snapshot.refresh(self.looking)
            self.staged = tuple(memo.staged)
            return
        scan = start_staged_scan(
            self.store, self.snapshot.inputs.user_index, self.git_state.head_commit
        )
        self.snapshot.refresh(self.looking)
        self.staged = tuple(scan.blobs())
        bring_objects(self.store, self.staged)

    def develop(
        self,
        parts: StoringParts,
        replacing: Replacing,
        memo: StateMemo | None,
        note: Callable[[InventoryMemo | None], None],
    ) -> tuple[TreeId, CommitId, SandboxState]:
        """Write the tree and, beside it, the state commit; note the inventory."""
        forced, tree = self._force(replacing)
        state = self._state(forced, replacing, keep=True)
        state_commit = self._state_commit(state, parts, memo)
        note(self.inventory)
        return tree(), state_commit, state

    def glance(self, replacing: Replacing) -> tuple[TreeId, SandboxState]:
        """The same without a state commit, and without changing anything that is kept."""
        forced, tree = self._force(replacing)
        state = self._state(forced, replacing, keep=False)
        return tree(), state

    def _state_commit(
        self, state: SandboxState, parts: StoringParts, memo: StateMemo | None
    ) -> CommitId:
        if memo is not None and memo.document == digest(encode_state(state)):
            return CommitId(memo.state_commit)
        return write_state(self.store, state, parts.blobs(), self.sandbox.base_commit)

    def _force(self, replacing: Replacing) -> tuple[list[bytes], Callable[[], TreeId]]:
        """Capture what the rules kept out and the caller is about to replace.

        The tree of all that is being written meanwhile, unless it is known already.
        """
        forced: list[bytes] = []
        if replacing.trees or replacing.bare_directories:
            tree = self.snapshot.write_tree()
            forced = replaced_paths(self.store, self.sandbox.path, tree, replacing)
            if not forced:
                return [], lambda: tree
        for path in forced:
            # Left out for its size, perhaps: that does not hold any more.
            self.snapshot.not_captured.pop(path, None)
        if forced:
            self.snapshot.add(forced)
            refuse_unsaved(self.snapshot.not_captured, forced)
        writing = self.snapshot.start_write_tree()
        return forced, lambda: self.snapshot.finish_write_tree(writing)

    def _state(self, forced: list[bytes], replacing: Replacing, *, keep: bool) -> SandboxState:
        findings = self._take_inventory()
        if replacing.trees:
            refuse_endless_among(findings.special)
        included, chosen, left_out = self._included(replacing, keep=keep)
        noted = {
            **self.snapshot.not_captured,
            **{os.fsencode(note.path): note for note in (*findings.notes(), *left_out)},
        }
        return SandboxState(
            git_state=self.git_state,
            ignore_rules=replace(self.ignore_rules, hidden=findings.hidden_rules),
            staged=self.staged,
            not_captured=tuple(note for _, note in sorted(noted.items())),
            forced=tuple(os.fsdecode(path) for path in forced),
            accounted=replacing.trees,
            extras=self._with_bystanders(
                self._with_modes_of(findings.extras, chosen), findings, replacing
            ),
            included=included,
            under_way=under_way(self.sandbox.git_dir),
        )

    def _take_inventory(self) -> Findings:
        root, snapshot = self.sandbox.path, self.snapshot
        if self.seed_date is not None:
            return fresh_inventory(root, snapshot.untracked)

        def ignored(paths: Sequence[bytes]) -> set[bytes]:
            return ignored_here(self.store, root, self.ignore_rules, paths)

        inventory = Inventory(root, snapshot.lister, ignored, time.time_ns(), self.known_inventory)
        self._findings = inventory.take(snapshot.touched())
        return self._findings

    def _included(
        self, replacing: Replacing, *, keep: bool
    ) -> tuple[Included, list[bytes], list[NotCaptured]]:
        """The chosen ignored files, and those that are about to be replaced."""
        patterns, root = self.rules.include_ignored, self.sandbox.path
        snapshot = self.snapshot
        chosen = chosen_files(snapshot.git, snapshot.inputs.rules, patterns)
        demanded = [path for path in replacing.included if exists_inside(root, path)]
        tree, left_out = IncludedCamera(self.store, self.sandbox).capture(
            chosen, demanded, self.rules.max_file_size, keep=keep
        )
        refuse_unsaved({os.fsencode(note.path): note for note in left_out}, demanded)
        absent = [p for p in replacing.included if not exists_inside(root, p)]
        held = list(entries_of(self.store, tree))
        return Included(tree, patterns, tuple(map(os.fsdecode, absent))), held, left_out

    def _with_modes_of(self, extras: Extras, files: list[bytes]) -> Extras:
        """The extras, with the modes of chosen ignored files and of what these are in."""
        if not files:
            return extras
        odd = exceptions(self._modes(files), extras.usual.of_file)
        above = self._modes({parent for path in files for parent in parents_of(path)})
        directories = exceptions(above, lambda _: extras.usual.directory)
        return replace(
            extras,
            file_modes={**extras.file_modes, **odd},
            directory_modes={**extras.directory_modes, **directories},
        )

    def _modes(self, paths: Iterable[bytes]) -> dict[str, int]:
        found = {os.fsdecode(p): lstat_inside(self.sandbox.path, p) for p in paths}
        return {path: s.st_mode & PERMISSIONS for path, s in found.items() if s}

    def _with_bystanders(self, extras: Extras, findings: Findings, replacing: Replacing) -> Extras:
        noted = findings.memo.directories
        return with_bystanders(self.store, self.sandbox.path, extras, replacing, noted)

    def _bring_head(self) -> None:
        base = self.sandbox.base_commit
        for commit in dict.fromkeys((self.git_state.head_commit, self.git_state.branch_commit)):
            if commit is not None and commit not in (base, *self.known_heads):
                bring_commit(self.store, commit, [base] if base else [])
