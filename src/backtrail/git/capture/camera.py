"""Capturing a sandbox: the sequence of one capture, from the first question to the kept index."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from backtrail.domain.capture import CaptureRules, IncludeRules
from backtrail.domain.errors import GitFailedError, NoSpaceError
from backtrail.domain.ids import CommitId
from backtrail.domain.plan import Sandbox
from backtrail.git.capture.conflicts import (
    InTheWay,
    Replacing,
    coming_directories,
    refuse_unsaved,
    replaced_paths,
)
from backtrail.git.capture.files import Looking, Snapshot, TreeWriting, start_changes
from backtrail.git.capture.included import capture_included
from backtrail.git.capture.metadata import Observed, compose_metadata
from backtrail.git.capture.staged import not_whole, start_staged_scan
from backtrail.git.capture.storing import take_out
from backtrail.git.checkpoint.state import (
    Captured,
    Glimpse,
    Included,
    SandboxState,
    StateMemo,
    StoringParts,
    digest,
    digest_of_inputs,
    encode_state,
    read_memo,
    storing_parts,
    write_state,
)
from backtrail.git.ignore.included import IncludedFiles, included_files, included_special_files
from backtrail.git.ignore.rules import ConfiguredPlace, UserSettings, ask_rules, rules_in_force
from backtrail.git.ignore.untracked import Lister
from backtrail.git.metadata.cache import InventoryMemo, read_inventory_memo
from backtrail.git.metadata.inventory import Findings, Inventory, fresh_inventory
from backtrail.git.process.runner import refuse_endless_among
from backtrail.git.store.elsewhere import NO_ROOM
from backtrail.git.store.index import (
    keep_index,
    note_backdated,
    read_backdated,
    trust_seed,
    working_index,
)
from backtrail.git.store.store import PrivateStore
from backtrail.git.user.head import GitState, ask_git_state
from backtrail.git.user.transfer import Brought, bring_commits, bring_named

_NOTHING = Replacing()


@dataclass(frozen=True, slots=True)
class _Look:
    """A look at a sandbox that is under way, on a working copy of its private index."""

    index: Path
    git_state: GitState
    snapshot: Snapshot
    changes: Looking
    known_inventory: InventoryMemo | None
    seed_date: int | None
    """The date of a seed that can be relied on: git has just checked everything out."""


@dataclass(frozen=True, slots=True)
class _Recorded:
    """What a look has recorded of a sandbox; its tree of files is still being written."""

    tree: TreeWriting
    state: SandboxState
    inventory: Findings


@dataclass(frozen=True, slots=True)
class Camera:
    """Captures one sandbox into the store."""

    store: PrivateStore
    sandbox: Sandbox
    user: UserSettings
    rules: CaptureRules = field(default_factory=CaptureRules)
    listed: tuple[str, ...] = ()
    """Lines of a .gitignore that name more small files."""

    def capture(
        self,
        *,
        replacing: Replacing = _NOTHING,
        known_heads: tuple[CommitId, ...] = (),
        fresh_seed: bool = False,
    ) -> Captured:
        """Capture everything, and whatever is about to be replaced, whatever the rules say.

        The caller holds the sandbox's lock: the private index is brought up to date, too.
        """
        self.store.refuse_elsewhere()
        began = time.time_ns()
        with self._look(replacing.branches, fresh_seed=fresh_seed) as look:
            git_state, excludes = look.git_state, look.snapshot.lister.rules.excludes
            inputs = digest_of_inputs(git_state, excludes)
            memo = read_memo(self._beside("state"), inputs)
            with storing_parts(self.store, git_state.index, excludes, memo) as parts:
                self._bring_head(git_state, known_heads)
                staged = self._refresh(look, memo)
                try:
                    recorded = self._record(look, replacing, staged, keep=True)
                    state_commit = self._state_commit(recorded.state, parts, memo)
                    tree = recorded.tree.finish()
                except GitFailedError:
                    # Perhaps an object that the memo names is gone: the next look does without.
                    self.forget_memo()
                    raise
            ignored = look.snapshot.ignored.entries
            captured = Captured(tree, state_commit, recorded.state, ignored)
            # Before the index: a crash between the two must not leave an index without its lists.
            self.keep_inventory(None if look.seed_date is not None else recorded.inventory.memo)
            added = look.snapshot.added
            note_backdated(self.kept_index, self.sandbox.path, added, began_ns=began)
            keep_index(look.index, self.kept_index, began_ns=began, date_ns=look.seed_date)
            self._keep_memo(inputs, captured, parts)
        return captured

    def peek(self, *, replacing: Replacing = _NOTHING) -> Glimpse:
        """Look without a lock and without changing the private index.

        Where the store cannot be written, the look is taken from elsewhere.
        """
        if self.store.elsewhere.place is None:
            if os.access(self.store.layout.scratch, os.W_OK):
                try:
                    return self._glimpse(replacing)
                except (NoSpaceError, OSError) as error:
                    if isinstance(error, OSError) and error.errno not in NO_ROOM:
                        raise
                    cause = str(error)
            else:
                cause = "the checkpoint store is read-only"
            self.store.look_from_elsewhere(cause)
        return self._glimpse(replacing)

    def _glimpse(self, replacing: Replacing) -> Glimpse:
        with self._look(replacing.branches) as look:
            self._bring_head(look.git_state, ())
            staged = self._refresh(look, None)
            recorded = self._record(look, replacing, staged, keep=False)
            entries = look.snapshot.ignored.entries
            return Glimpse(recorded.tree.finish(), recorded.state, entries, self.sandbox.path)

    @property
    def kept_index(self) -> Path:
        """The private index: of all that was captured last."""
        return self.store.layout.sandbox_index(self.sandbox.sandbox_id)

    def forget_index(self) -> None:
        """Read every file again the next time."""
        self.kept_index.unlink(missing_ok=True)

    def forget_memo(self) -> None:
        """Do not rely again on what turned out to be incomplete."""
        self._beside("state").unlink(missing_ok=True)

    def keep_inventory(self, inventory: InventoryMemo | None) -> None:
        """Begin the next look with this one, as with what a proof has seen; or with none."""
        if inventory is None:
            self._beside("inventory").unlink(missing_ok=True)
        else:
            inventory.write(self._beside("inventory"))

    def _keep_memo(self, inputs: str, captured: Captured, parts: StoringParts) -> None:
        document = digest(encode_state(captured.state))
        staged = list(captured.state.staged)
        memo = StateMemo(inputs, document, captured.state_commit, parts.blobs(), staged)
        memo.write(self._beside("state"))

    def _beside(self, what: str) -> Path:
        """A file that goes with the private index."""
        return self.kept_index.with_name(f"{self.kept_index.name}.{what}")

    @contextmanager
    def _look(self, branches: tuple[str, ...], *, fresh_seed: bool = False) -> Generator[_Look]:
        """Ask for all that does not depend on another answer, side by side."""
        sandbox = self.sandbox
        place = ConfiguredPlace(sandbox.path, sandbox.git_dir, self.store.common_dir)
        rules_asked = ask_rules(place, self.user)
        state_asked = ask_git_state(sandbox.git_dir, sandbox.branch, branches)
        with ExitStack() as stack:
            index = stack.enter_context(working_index(self.store, self.kept_index))
            git, known_index = self.store.git(sandbox.path, index), index.exists()
            backdated = read_backdated(self.kept_index) if known_index else []
            if backdated:
                take_out(git, backdated)
            seed_date = trust_seed(index) if fresh_seed else None
            changes = start_changes(git)
            rules = rules_asked.answer()
            words = stack.enter_context(rules_in_force(self.store, rules))
            git_state = state_asked.answer()
            user_index = _copied_index(git_state, index.with_name("user-index"))
            # Without the index that it goes with, an inventory is worth nothing.
            inventory = self._beside("inventory") if known_index else None
            lister = Lister(self.store, git, sandbox.path, rules, words)
            snapshot = Snapshot(lister, user_index, self.rules.max_file_size, removed=backdated)
            yield _Look(
                index=index,
                git_state=git_state,
                snapshot=snapshot,
                changes=snapshot.start_look(changes),
                known_inventory=read_inventory_memo(inventory) if inventory else None,
                seed_date=seed_date,
            )

    def _bring_head(self, git_state: GitState, known_heads: tuple[CommitId, ...]) -> None:
        """Have the user's own commits in the store."""
        base = self.sandbox.base_commit
        new = [commit for commit in git_state.commits if commit not in (base, *known_heads)]
        if new:
            bring_commits(self.store, new, [base] if base else [])

    def _refresh(self, look: _Look, memo: StateMemo | None) -> tuple[str, ...]:
        """Bring the working index up to date, and what is staged into the store."""
        if memo is not None:
            look.snapshot.refresh(look.changes)
            return tuple(memo.staged)
        scan = start_staged_scan(self.store, look.snapshot.user_index, look.git_state.head_commit)
        look.snapshot.refresh(look.changes)
        return scan.bring()

    def _record(
        self, look: _Look, replacing: Replacing, staged: tuple[str, ...], *, keep: bool
    ) -> _Recorded:
        """Record what the working index has, and all that no tree of files holds."""
        store, root, rules = self.store, self.sandbox.path, look.snapshot.lister.rules
        include = self.rules.include_rules(self.listed)
        found = self._find_included(look.snapshot, include)
        in_the_way, tree = self._save_replaced(look.snapshot, replacing, found)
        inventory = self._take_inventory(look)
        if replacing.trees:
            refuse_endless_among(root, inventory.special)
        known = inventory.ignored_special
        special = included_special_files(look.snapshot.lister, include, found, known)
        found = replace(found, special=tuple(sorted(special)))
        included = capture_included(
            store, self.sandbox, found, replacing, in_the_way, self.rules.max_file_size, keep=keep
        )
        brought = self._bring_named(look.git_state) if keep else Brought()
        metadata = compose_metadata(
            Observed(
                root=root,
                left_out=look.snapshot.not_captured,
                ignored=look.snapshot.ignored,
                inventory=inventory,
                included=included,
                not_whole=not_whole(look.git_state.merge, brought),
                replacing=replacing,
                coming=coming_directories(store, replacing),
                empty_in_the_way=in_the_way.empty_directories,
            )
        )
        state = SandboxState(
            git_state=look.git_state,
            ignore_rules=replace(rules, hidden=inventory.hidden_rules),
            staged=staged,
            not_captured=metadata.not_captured,
            forced=tuple(map(os.fsdecode, in_the_way.files)),
            accounted=replacing.trees,
            extras=metadata.extras,
            included=Included(included.tree, include, included.absent),
            ignored=metadata.ignored,
            named=brought.named,
        )
        return _Recorded(tree, state, inventory)

    def _find_included(self, snapshot: Snapshot, include: IncludeRules) -> IncludedFiles:
        """The included ignored files; what is not ignored and was left out is none of them."""
        found = included_files(snapshot.lister, snapshot.ignored, include)
        return replace(found, files=tuple(p for p in found.files if p not in snapshot.not_captured))

    def _save_replaced(
        self, snapshot: Snapshot, replacing: Replacing, found: IncludedFiles
    ) -> tuple[InTheWay, TreeWriting]:
        """Capture what the rules kept out and the caller is about to replace, with all others."""
        writing = snapshot.start_write_tree()
        if not replacing.trees and not replacing.bare_directories:
            return InTheWay(), writing
        in_the_way = replaced_paths(self.store, self.sandbox.path, writing.finish(), replacing)
        # Included files do not belong into the tree, also if they are in the way.
        apart = {*found.files, *replacing.included, *replacing.going}
        in_the_way = in_the_way.with_included_apart(apart)
        if not in_the_way.files:
            return in_the_way, writing
        for path in in_the_way.files:
            # Left out for its size, perhaps: that does not hold any more.
            snapshot.not_captured.pop(path, None)
        snapshot.add(list(in_the_way.files))
        snapshot.look_at_ignored()
        refuse_unsaved(snapshot.not_captured, in_the_way.files)
        return in_the_way, snapshot.start_write_tree()

    def _take_inventory(self, look: _Look) -> Findings:
        if look.seed_date is not None:
            return fresh_inventory(self.sandbox.path, look.snapshot.untracked)
        inventory = Inventory(look.snapshot.lister, time.time_ns(), look.known_inventory)
        return inventory.take(look.snapshot.touched())

    def _bring_named(self, git_state: GitState) -> Brought:
        """What a merge or the like that is under way goes by, so that it can go on."""
        base, names = self.sandbox.base_commit, git_state.merge.names
        known = (*([base] if base else []), *git_state.commits)
        return bring_named(self.store, names, known) if names else Brought()

    def _state_commit(
        self, state: SandboxState, parts: StoringParts, memo: StateMemo | None
    ) -> CommitId:
        if memo is not None and memo.document == digest(encode_state(state)):
            return CommitId(memo.state_commit)
        return write_state(self.store, state, parts.blobs(), self.sandbox.base_commit)


def _copied_index(state: GitState, path: Path) -> Path | None:
    """The user's index as a file that git can be pointed at."""
    if state.index is None:
        return None
    path.write_bytes(state.index.content)
    return path
