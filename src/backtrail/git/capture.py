"""One look at a sandbox, made into objects: its files and all that decides what they mean."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backtrail.domain.capture import CaptureRules
from backtrail.domain.errors import GitFailedError, NoSpaceError
from backtrail.git.backdated import note_backdated, read_backdated
from backtrail.git.elsewhere import NO_ROOM
from backtrail.git.gitstate import GitState, ask_git_state
from backtrail.git.ignore import ConfiguredPlace, UserSettings, ask_rules, rules_in_force
from backtrail.git.inventory_memo import InventoryMemo, read_inventory_memo
from backtrail.git.listing import Lister
from backtrail.git.private_index import keep_index, trust, working_index
from backtrail.git.replaced import Replacing
from backtrail.git.shot import Shot
from backtrail.git.snapshot import CaptureInputs, Snapshot, start_changes
from backtrail.git.state import SandboxState, encode_state
from backtrail.git.state_memo import StateMemo, digest, digest_of_inputs, read_memo
from backtrail.git.state_parts import StoringParts, storing_parts
from backtrail.git.storing import take_out

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from backtrail.domain.ids import CommitId, TreeId
    from backtrail.domain.plan import Sandbox
    from backtrail.git.store import PrivateStore

_NOTHING = Replacing()


@dataclass(frozen=True, slots=True)
class Captured:
    """A state of a sandbox whose objects are in the store."""

    tree: TreeId
    state_commit: CommitId
    state: SandboxState
    ignored: tuple[str, ...] = ()
    """All that was ignored, a whole directory as one entry; not kept, so of a fresh look alone."""


@dataclass(frozen=True, slots=True)
class Glimpse:
    """A look at a sandbox that is not kept."""

    tree: TreeId
    state: SandboxState
    ignored: tuple[str, ...]
    """All that was ignored, a whole directory as one entry."""
    root: Path


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
        branches = replacing.branches
        with self._shot(known_heads, branches, fresh_seed=fresh_seed) as shot:
            git_state, excludes = shot.git_state, shot.ignore_rules.excludes
            inputs = digest_of_inputs(git_state, excludes)
            memo = read_memo(self._beside("state"), inputs)
            with storing_parts(self.store, git_state.index, excludes, memo) as parts:
                shot.refresh(memo)
                try:
                    made = shot.develop(parts, replacing, memo, self._note_inventory)
                except GitFailedError:
                    # Perhaps an object that the memo names is gone: the next look does without.
                    self.forget_memo()
                    raise
            captured = Captured(*made, shot.snapshot.ignored.entries)
            # Before the index: a crash between the two must not leave an index without its lists.
            note_backdated(self.kept_index, self.sandbox.path, shot.snapshot.added, began_ns=began)
            keep_index(shot.index, self.kept_index, began_ns=began, date_ns=shot.seed_date)
            self._remember(inputs, captured, parts)
        return captured

    def forget_memo(self) -> None:
        """Do not believe again what turned out to be incomplete."""
        self._beside("state").unlink(missing_ok=True)

    def _note_inventory(self, inventory: InventoryMemo | None) -> None:
        if inventory is None:
            self._beside("inventory").unlink(missing_ok=True)
        else:
            inventory.write(self._beside("inventory"))

    def believe(self, inventory: InventoryMemo) -> None:
        """Begin the next look with what a proof has seen."""
        self._note_inventory(inventory)

    def forget_index(self) -> None:
        """Read every file again the next time."""
        self.kept_index.unlink(missing_ok=True)

    def _remember(self, inputs: str, captured: Captured, parts: StoringParts) -> None:
        document = digest(encode_state(captured.state))
        staged = list(captured.state.staged)
        memo = StateMemo(inputs, document, captured.state_commit, parts.blobs(), staged)
        memo.write(self._beside("state"))

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
        with self._shot((), replacing.branches) as shot:
            shot.refresh(None)
            made = shot.glance(replacing)
            entries = shot.snapshot.ignored.entries
            return Glimpse(*made, entries, self.sandbox.path)

    @property
    def kept_index(self) -> Path:
        """The private index: of all that was captured last."""
        return self.store.layout.sandbox_index(self.sandbox.sandbox_id)

    def _beside(self, what: str) -> Path:
        """A file that goes with the private index."""
        return self.kept_index.with_name(f"{self.kept_index.name}.{what}")

    @contextmanager
    def _shot(
        self,
        known_heads: tuple[CommitId, ...],
        branches: tuple[str, ...],
        *,
        fresh_seed: bool = False,
    ) -> Generator[Shot]:
        sandbox, common_dir = self.sandbox, self.store.common_dir
        place = ConfiguredPlace(sandbox.path, sandbox.git_dir, common_dir)
        question = ask_rules(place, self.user)
        asked = ask_git_state(sandbox.git_dir, sandbox.branch, branches)
        with ExitStack() as stack:
            index = stack.enter_context(working_index(self.store, self.kept_index))
            git, known_index = self.store.git(self.sandbox.path, index), index.exists()
            backdated = read_backdated(self.kept_index) if known_index else []
            if backdated:
                take_out(git, backdated)
            seed_date = trust(index) if fresh_seed else None
            changes = start_changes(git)
            rules = question.answer()
            words = stack.enter_context(rules_in_force(self.store, rules))
            git_state = asked.answer()
            user_index = copied_index(git_state, index.with_name("user-index"))
            snapshot = Snapshot(
                git,
                Lister(self.store, git, self.sandbox.path, rules, words),
                CaptureInputs(self.sandbox.path, words, user_index, self.rules.max_file_size),
                removed=backdated,
            )
            looking = snapshot.start_look(changes)
            # Without the index that it goes with, an inventory is worth nothing.
            known = read_inventory_memo(self._beside("inventory")) if known_index else None
            yield Shot(
                store=self.store,
                sandbox=self.sandbox,
                rules=self.rules,
                choice=self.rules.choice(self.listed),
                index=index,
                git_state=git_state,
                ignore_rules=rules,
                snapshot=snapshot,
                looking=looking,
                known_heads=known_heads,
                known_inventory=known,
                seed_date=seed_date,
            )


def copied_index(state: GitState, path: Path) -> Path | None:
    """The user's index as a file that git can be pointed at."""
    if state.index is None:
        return None
    path.write_bytes(state.index.content)
    return path
