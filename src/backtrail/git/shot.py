"""One capture in progress: files, then what no tree can hold, then the state of both."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.ids import CommitId
from backtrail.git.bystanders import with_bystanders
from backtrail.git.chosen import Chosen, chosen_files, chosen_special_files
from backtrail.git.extras import BEYOND_PERMISSIONS, PERMISSIONS, Extras, exceptions
from backtrail.git.fresh_inventory import fresh_inventory
from backtrail.git.ignored import IgnoredNames, untouched, with_directories
from backtrail.git.included import Included, entries_of
from backtrail.git.included_capture import IncludedCamera
from backtrail.git.inventory import Findings, Inventory
from backtrail.git.judging import ignored_here
from backtrail.git.paths import exists_inside, lstat_inside, parents_of
from backtrail.git.replaced import InTheWay, refuse_unsaved, replaced_paths
from backtrail.git.staged import start_staged_scan
from backtrail.git.state import SandboxState, encode_state, write_state
from backtrail.git.state_memo import digest
from backtrail.git.storable import NESTED, SET_BITS, SPECIAL, UNREADABLE
from backtrail.git.stuck import refuse_endless_among
from backtrail.git.transfer import Named, bring_commits, bring_named, bring_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from backtrail.domain.capture import CaptureRules, Choice
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
            named=self._named() if keep else Named(),
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

    def _named(self) -> Named:
        """What a merge or the like that is under way goes by, so that it can go on."""
        names, state = self.git_state.merge.names, self.git_state
        base = self.sandbox.base_commit
        known = (*([base] if base else []), *state.commits)
        return bring_named(self.store, names, known) if names else Named()
