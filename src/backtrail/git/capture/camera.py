"""One look at a sandbox, made into objects: files, what no tree can hold, and the state of both."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backtrail.domain.capture import CaptureRules
from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.errors import GitFailedError, NoSpaceError
from backtrail.domain.ids import CommitId
from backtrail.git.capture.bystanders import with_bystanders
from backtrail.git.capture.conflicts import InTheWay, Replacing, refuse_unsaved, replaced_paths
from backtrail.git.capture.files import CaptureInputs, Snapshot, start_changes
from backtrail.git.capture.selected_files import IncludedCamera
from backtrail.git.capture.staged import not_whole, start_staged_scan
from backtrail.git.capture.storing import take_out
from backtrail.git.checkpoint.selected_files import Included, entries_of
from backtrail.git.checkpoint.state import (
    Captured,
    Glimpse,
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
from backtrail.git.ignore.eligibility import NESTED, SET_BITS, SPECIAL, UNREADABLE
from backtrail.git.ignore.evaluate import ignored_here
from backtrail.git.ignore.ignored import IgnoredNames, untouched, with_directories
from backtrail.git.ignore.rules import ConfiguredPlace, UserSettings, ask_rules, rules_in_force
from backtrail.git.ignore.selected import Chosen, chosen_files, chosen_special_files
from backtrail.git.ignore.untracked import Lister
from backtrail.git.metadata.cache import InventoryMemo, read_inventory_memo
from backtrail.git.metadata.inventory import Findings, Inventory
from backtrail.git.metadata.model import Extras, exceptions
from backtrail.git.metadata.shortcuts import fresh_inventory
from backtrail.git.osfiles.beneath import BEYOND_PERMISSIONS, PERMISSIONS, parents_of
from backtrail.git.osfiles.paths import exists_inside, lstat_inside
from backtrail.git.process.runner import refuse_endless_among
from backtrail.git.store.elsewhere import NO_ROOM
from backtrail.git.store.index import (
    keep_index,
    note_backdated,
    read_backdated,
    trust,
    working_index,
)
from backtrail.git.user.head import GitState, ask_git_state
from backtrail.git.user.transfer import Brought, bring_commits, bring_named, bring_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from pathlib import Path

    from backtrail.domain.capture import Choice
    from backtrail.domain.ids import TreeId
    from backtrail.domain.plan import Sandbox
    from backtrail.git.capture.files import Looking
    from backtrail.git.ignore.rules import IgnoreRules
    from backtrail.git.store.store import PrivateStore


_NOTHING = Replacing()


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


@dataclass(slots=True)
class Shot:
    """Everything that one capture works on, laid out."""

    store: PrivateStore
    sandbox: Sandbox
    rules: CaptureRules
    choice: Choice
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
        chosen = self._choose()
        in_the_way, tree = self._force(replacing, chosen)
        state = self._state(in_the_way, chosen, replacing, keep=True)
        state_commit = self._state_commit(state, parts, memo)
        note(self.inventory)
        return tree(), state_commit, state

    def glance(self, replacing: Replacing) -> tuple[TreeId, SandboxState]:
        """The same without a state commit, and without changing anything that is kept."""
        chosen = self._choose()
        in_the_way, tree = self._force(replacing, chosen)
        state = self._state(in_the_way, chosen, replacing, keep=False)
        return tree(), state

    def _state_commit(
        self, state: SandboxState, parts: StoringParts, memo: StateMemo | None
    ) -> CommitId:
        if memo is not None and memo.document == digest(encode_state(state)):
            return CommitId(memo.state_commit)
        return write_state(self.store, state, parts.blobs(), self.sandbox.base_commit)

    def _choose(self) -> Chosen:
        """The chosen ignored files; what is not ignored and was left out is none of them."""
        snapshot, inputs = self.snapshot, self.snapshot.inputs
        found = chosen_files(
            self.store, snapshot.git, inputs.root, inputs.rules, snapshot.ignored, self.choice
        )
        return replace(found, files=tuple(p for p in found.files if p not in snapshot.not_captured))

    def _force(self, replacing: Replacing, chosen: Chosen) -> tuple[InTheWay, Callable[[], TreeId]]:
        """Capture what the rules kept out and the caller is about to replace.

        The tree of all that is being written meanwhile, unless it is known already.
        """
        in_the_way = InTheWay()
        if replacing.trees or replacing.bare_directories:
            tree = self.snapshot.write_tree()
            # Chosen files do not belong into the tree, also if they are in the way.
            kept_aside = {*chosen.files, *replacing.included, *replacing.going}
            found = replaced_paths(self.store, self.sandbox.path, tree, replacing)
            in_the_way = found.with_chosen_apart(kept_aside)
            if not in_the_way.files:
                return in_the_way, lambda: tree
        for path in in_the_way.files:
            # Left out for its size, perhaps: that does not hold any more.
            self.snapshot.not_captured.pop(path, None)
        if in_the_way.files:
            self.snapshot.add(list(in_the_way.files))
            self.snapshot.look_at_ignored()
            refuse_unsaved(self.snapshot.not_captured, in_the_way.files)
        writing = self.snapshot.start_write_tree()
        return in_the_way, lambda: self.snapshot.finish_write_tree(writing)

    def _state(
        self, in_the_way: InTheWay, chosen: Chosen, replacing: Replacing, *, keep: bool
    ) -> SandboxState:
        findings = self._take_inventory()
        if replacing.trees:
            refuse_endless_among(self.sandbox.path, findings.special)
        included, left_out = self._included(chosen, in_the_way, replacing, keep=keep)
        held = list(entries_of(self.store, included.tree))
        left_out += self._not_in_chosen(chosen, held, findings)
        brought = self._named() if keep else Brought()
        left_out += not_whole(self.git_state.merge, brought)
        noted = {
            **self.snapshot.not_captured,
            **{os.fsencode(note.path): note for note in (*findings.notes(), *left_out)},
        }
        return SandboxState(
            git_state=self.git_state,
            ignore_rules=replace(self.ignore_rules, hidden=findings.hidden_rules),
            staged=self.staged,
            not_captured=tuple(note for _, note in sorted(noted.items())),
            forced=tuple(os.fsdecode(path) for path in in_the_way.files),
            accounted=replacing.trees,
            extras=self._with_bystanders(
                self._with_more(self._with_holders(findings), held, in_the_way.empty_directories),
                findings,
                replacing,
            ),
            included=included,
            ignored=self._other_names(held),
            named=brought.named,
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
        self, chosen: Chosen, in_the_way: InTheWay, replacing: Replacing, *, keep: bool
    ) -> tuple[Included, list[NotCaptured]]:
        """The chosen ignored files, and those that are about to be replaced."""
        root = self.sandbox.path
        looked_for = (*replacing.included, *replacing.going)
        demanded = [path for path in looked_for if exists_inside(root, path)]
        demanded += in_the_way.chosen
        tree, left_out = IncludedCamera(self.store, self.sandbox).capture(
            chosen.files, demanded, self.rules.max_file_size, keep=keep
        )
        left_out += (NotCaptured(os.fsdecode(d), UNREADABLE) for d in chosen.unreadable)
        left_out += (note for note in chosen.too_large if os.fsencode(note.path) not in demanded)
        refuse_unsaved({os.fsencode(note.path): note for note in left_out}, demanded)
        absent = (os.fsdecode(path) for path in looked_for if not exists_inside(root, path))
        return Included(tree, self.choice, tuple(absent)), left_out

    def _not_in_chosen(
        self, chosen: Chosen, held: Iterable[bytes], findings: Findings
    ) -> list[NotCaptured]:
        """What of the chosen ignored files no checkpoint can hold."""
        root, known = self.sandbox.path, findings.ignored_special
        special = chosen_special_files(
            self.store, root, self.ignore_rules, self.choice, chosen, known
        )
        modes = ((path, lstat_inside(root, path)) for path in held)
        set_bits = (path for path, found in modes if found and found.st_mode & BEYOND_PERMISSIONS)
        return [
            *(NotCaptured(os.fsdecode(path), SPECIAL) for path in sorted(special)),
            *(NotCaptured(os.fsdecode(path + b"/.git"), NESTED) for path in chosen.repositories),
            *(NotCaptured(os.fsdecode(path), SET_BITS) for path in set_bits),
        ]

    def _other_names(self, held: Iterable[bytes]) -> IgnoredNames:
        """What is ignored and not held: of a directory with something that is, all else in it."""
        taken = with_directories(map(os.fsdecode, held))
        return IgnoredNames.of(untouched(self.sandbox.path, self.snapshot.ignored.entries, taken))

    def _with_holders(self, findings: Findings) -> Extras:
        """The extras, with directories that hold nothing but what is not captured."""
        known = findings.memo.directories
        if not known:
            # A fresh checkout, of which little was looked at, holds nothing of the kind.
            return findings.extras
        notes = (*self.snapshot.not_captured.values(), *findings.notes())
        paths = (os.fsencode(note.path) for note in notes if note.reason != SET_BITS)
        above = {d for path in paths for d in parents_of(path) if os.fsdecode(d) not in known}
        return replace(findings.extras, standing=self._modes(above))

    def _with_more(self, extras: Extras, files: list[bytes], empty: Sequence[bytes]) -> Extras:
        """The extras, with what no rule would have captured: chosen files, empty directories."""
        if not files and not empty:
            return extras
        odd_files = exceptions(self._modes(files), extras.usual.of_file)
        inside = (*files, *empty)
        directories = {*empty, *(parent for path in inside for parent in parents_of(path))}
        odd_directories = exceptions(self._modes(directories), lambda _: extras.usual.directory)
        return replace(
            extras,
            file_modes={**extras.file_modes, **odd_files},
            directory_modes={**extras.directory_modes, **odd_directories},
            empty_directories=tuple(sorted({*extras.empty_directories, *map(os.fsdecode, empty)})),
        )

    def _modes(self, paths: Iterable[bytes]) -> dict[str, int]:
        """Of those that are there and can be looked at."""
        modes: dict[str, int] = {}
        for path in sorted(paths):
            with suppress(PermissionError):
                found = lstat_inside(self.sandbox.path, path)
                if found is not None:
                    modes[os.fsdecode(path)] = found.st_mode & PERMISSIONS
        return modes

    def _with_bystanders(self, extras: Extras, findings: Findings, replacing: Replacing) -> Extras:
        noted = findings.memo.directories
        return with_bystanders(self.store, self.sandbox.path, extras, replacing, noted)

    def _bring_head(self) -> None:
        base = self.sandbox.base_commit
        known = (base, *self.known_heads)
        new = [commit for commit in self.git_state.commits if commit not in known]
        if new:
            bring_commits(self.store, new, [base] if base else [])

    def _named(self) -> Brought:
        """What a merge or the like that is under way goes by, so that it can go on."""
        names, state = self.git_state.merge.names, self.git_state
        base = self.sandbox.base_commit
        known = (*([base] if base else []), *state.commits)
        return bring_named(self.store, names, known) if names else Brought()
