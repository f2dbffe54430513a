"""Bringing files back: what a restore would do, and doing it.

Only captured paths are ever removed, and of those none that the target's own ignore rules would
have ignored: such survivors are taken out of the private index first and stay on disk.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from backtrail.domain.ids import TreeId
from backtrail.domain.rollback import RevertAction, RevertedFile
from backtrail.git.capture.storing import take_in, take_out
from backtrail.git.checkpoint.state import Included
from backtrail.git.ignore.evaluate import ignored_at
from backtrail.git.ignore.rules import IgnoreRules
from backtrail.git.metadata.model import Extras
from backtrail.git.osfiles.beneath import Beneath, parents_of
from backtrail.git.restore.metadata import (
    ExtrasPlan,
    apply_modes,
    clear_away,
    make_bare_directories,
    make_way,
    part_hard_links,
    plan_extras,
)
from backtrail.git.restore.selected_files import IncludedMoves, IncludedRestore, included_moves
from backtrail.git.restore.staging import staging_for
from backtrail.git.restore.switch import changed_meanwhile, switch_index, telling
from backtrail.git.restore.writer import Writer, checked_out
from backtrail.git.store.index import keep_index, note_written, working_index
from backtrail.git.store.objects import (
    Change,
    TreeEntry,
    entries_in,
    files_by_path,
    list_tree,
    start_directories,
    start_listing,
    tree_changes,
)
from backtrail.git.store.store import scratch_directory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from backtrail.domain.checkpoint import NotCaptured
    from backtrail.domain.plan import Sandbox
    from backtrail.git.checkpoint.state import Captured, Glimpse
    from backtrail.git.process.runner import GitRunner
    from backtrail.git.store.store import PrivateStore
    from backtrail.git.user.head import UserIndex


@dataclass(frozen=True, slots=True)
class Goal:
    """The files that a restore is to bring about, and the rules by which it is judged."""

    tree: TreeId
    ignore_rules: IgnoreRules
    index: UserIndex | None
    forced: tuple[str, ...]
    extras: Extras
    included: Included = field(default_factory=Included)
    """Chosen ignored files, with those that have to go as `absent`."""
    accounted: tuple[TreeId, ...] = ()
    """Trees whose paths, where the goal lacks them, are known to have been absent."""
    uncaptured: frozenset[str] = frozenset()
    """Paths that were there and could not be captured: what is at or below them stays."""
    before: Extras = field(default_factory=Extras)
    """Those of the safety checkpoint: a directory that stays for its ignored files keeps its mode,
    also if it had to be opened, and also if that was in an attempt that was interrupted."""


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What a restore changes, and which captured paths it leaves alone."""

    goal: Goal
    switching: tuple[Change, ...]
    """What differs between all other files than the chosen ones, as captured, and the goal's."""
    changes: tuple[RevertedFile, ...]
    survivors: Mapping[str, str]
    """Captured paths that stay although the goal lacks them, with the reason; an empty directory
    ends in a slash."""
    extras: ExtrasPlan
    present: tuple[TreeId | None, TreeId]
    """The chosen ignored files, and all others, as they were captured."""
    not_captured: tuple[NotCaptured, ...]
    """What is there now and in no checkpoint."""
    files: list[TreeEntry]
    """The goal's files, read once."""
    included: list[TreeEntry]
    chosen_in_the_way: tuple[bytes, ...]
    """Chosen ignored files of the present in the place of something else."""
    handed_over: tuple[bytes, ...]
    """Files that are chosen ignored ones in the goal: what happens to them is decided there."""

    def mode_of(self, entry: TreeEntry) -> int:
        """The permission bits that a file of the goal is to have."""
        return self.goal.extras.file_mode(os.fsdecode(entry.path), entry.mode_bits)


def plan_files(store: PrivateStore, current: Captured | Glimpse, goal: Goal) -> FilePlan:
    """Compare the captured present with the goal."""
    listing = start_listing(store, goal.tree)
    present = start_directories(store, current.tree)
    switching = tree_changes(store, current.tree, goal.tree)
    coming = [change.path for change in switching if change.new]
    going = [change.path for change in switching if not change.new]
    directories = [os.fsencode(path) + b"/" for path in goal.extras.bare_directories]
    files, included = entries_in(listing), _included_entries(store, goal)
    chosen = [entry.path for entry in included]
    handed_over = set(chosen).intersection(going)
    moves = included_moves(store, current.state.included, goal.included)
    written = {*coming, *moves.coming} - _there_already(store, current, moves, files, included)
    extras = plan_extras(
        current.state.extras,
        {*present.finish().checked().records(), *moves.directories},
        goal,
        [*files, *included],
        written,
    )
    in_the_way = moves.in_the_way(files, included, extras.directories)
    leaving = [path for path in going if path not in handed_over]
    free = _not_in_the_way([*leaving, *extras.vanishing], [*coming, *directories, *chosen])
    survivors = _survivors(store, goal, files, free) | _where_uncaptured(
        goal, moves.staying - in_the_way
    )
    extras = replace(extras, vanishing=tuple(d for d in extras.vanishing if d not in survivors))
    removed = {path for path in leaving if path not in survivors}
    removed |= in_the_way.difference(e.path for e in files) if in_the_way else set()
    return FilePlan(
        goal=goal,
        switching=tuple(switching),
        changes=_changes(
            {*written, *extras.changed, *extras.appearing},
            {*removed, *moves.going, *extras.vanishing},
        ),
        survivors={os.fsdecode(p): why for p, why in sorted(survivors.items())},
        extras=extras,
        present=(current.state.included.tree, current.tree),
        not_captured=current.state.not_captured,
        files=files,
        included=included,
        chosen_in_the_way=tuple(sorted(in_the_way)),
        handed_over=tuple(sorted(handed_over)),
    )


def _there_already(
    store: PrivateStore,
    current: Captured | Glimpse,
    moves: IncludedMoves,
    files: Sequence[TreeEntry],
    included: Sequence[TreeEntry],
) -> set[bytes]:
    """What only moves between the chosen ignored files and all others, its content the same."""
    chosen = [e for e in included if e.path in moves.coming]
    here = files_by_path(store, current.tree) if chosen else {}
    moved = [e for e in files if e.path in moves.present] if moves.present else []
    return {
        e.path
        for entries, known in ((moved, moves.present), (chosen, here))
        for e in entries
        if known.get(e.path) == (e.mode, e.object_id)
    }


def _changes(restored: set[bytes], removed: set[bytes]) -> tuple[RevertedFile, ...]:
    """In the order of their paths; what is replaced by something else counts as restored."""
    actions = dict.fromkeys(removed, RevertAction.REMOVED)
    actions |= dict.fromkeys(restored, RevertAction.RESTORED)
    return tuple(RevertedFile(os.fsdecode(p), action) for p, action in sorted(actions.items()))


def _included_entries(store: PrivateStore, goal: Goal) -> list[TreeEntry]:
    return list_tree(store, goal.included.tree) if goal.included.tree else []


def _not_in_the_way(going: list[bytes], coming: list[bytes]) -> list[bytes]:
    """Paths that are neither a parent of a path that comes back nor below one."""
    wanted = set(coming)
    parents = {parent for path in coming for parent in parents_of(path)}
    return [p for p in going if p not in parents and wanted.isdisjoint(parents_of(p))]


def _survivors(
    store: PrivateStore, goal: Goal, files: list[TreeEntry], free: list[bytes]
) -> dict[bytes, str]:
    """Of what the goal lacks: what its rules ignored, and what is where something was not captured.

    In the second place nobody knows what was there, so that nobody knows what should not be.
    """
    ignored = ignored_at(store, files, goal.ignore_rules, free)
    ignored -= _tracked(store, goal.index, ignored)
    ignored -= _known_absent(store, goal, ignored)
    ignored.difference_update(os.fsencode(path) + b"/" for path in goal.extras.absent)
    return _where_uncaptured(goal, free) | dict.fromkeys(ignored, "ignored at the checkpoint")


def _where_uncaptured(goal: Goal, paths: Iterable[bytes]) -> dict[bytes, str]:
    unknown = {os.fsencode(path).rstrip(b"/") for path in goal.uncaptured}
    there = [p for p in paths if not unknown.isdisjoint((p, *parents_of(p)))]
    return dict.fromkeys(there, "not captured at the checkpoint")


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


def _staying(store: PrivateStore, plan: FilePlan, emptied: set[bytes]) -> set[bytes]:
    """Directories that stay although no chosen file is left in them.

    Those that the goal has, and those that its rules ignore unless they are known to have been
    absent.
    """
    paths = [path + b"/" for path in sorted(emptied)]
    ignored = ignored_at(store, plan.files, plan.goal.ignore_rules, paths)
    ignored -= {os.fsencode(path) + b"/" for path in plan.goal.extras.absent}
    return {path.rstrip(b"/") for path in ignored} | emptied.intersection(plan.extras.directories)


def _take_in_chosen(store: PrivateStore, git: GitRunner, root: Path, plan: FilePlan) -> None:
    """Take chosen files that are in the way into the index, from which git replaces them."""
    take_in(git, root, plan.chosen_in_the_way)
    held, found = files_by_path(store, plan.present[0]), git.call("ls-files", "-s", "-z").records()
    split = (record.split(b"\t", 1) for record in found)
    now = {path: head.split(b" ") for head, path in split}
    for path in plan.chosen_in_the_way:
        mode, name = held[path]
        if path in now and now[path][:2] != [mode, name.encode()]:
            raise changed_meanwhile([path])


def restore_files(
    store: PrivateStore, sandbox: Sandbox, plan: FilePlan, failpoints: Failpoints = NO_FAILPOINTS
) -> None:
    """Make the sandbox's files those of the goal; the private index knows the present exactly."""
    kept = store.layout.sandbox_index(sandbox.sandbox_id)
    # Modes change behind git's back: the next look must not believe what was noted of them.
    kept.with_name(f"{kept.name}.inventory").unlink(missing_ok=True)
    with (
        telling(b""),
        staging_for(store, sandbox) as staging,
        Beneath(sandbox.path) as inside,
    ):
        writer = Writer(inside, staging, failpoints)
        make_way(inside, [os.fsencode(change.file) for change in plan.changes])
        clear_away(inside, plan.extras)
        _switch_files(store, sandbox, plan, writer)
        chosen = plan.goal.included
        if chosen.absent or chosen.tree != plan.present[0]:
            IncludedRestore(store, sandbox).restore(
                writer,
                (*plan.present, plan.goal.tree),
                chosen.tree,
                map(os.fsencode, chosen.absent),
                plan.mode_of,
                lambda emptied: _staying(store, plan, emptied),
            )
        make_bare_directories(inside, plan.goal.extras)
        part_hard_links(store, sandbox.path, writer, plan.extras.files, plan.mode_of)
        apply_modes(inside, plan.goal.extras, plan.extras, writer.placed)


def _switch_files(store: PrivateStore, sandbox: Sandbox, plan: FilePlan, writer: Writer) -> None:
    """Write and remove all files but the chosen ignored ones."""
    began, root, goal = time.time_ns(), sandbox.path, plan.goal
    kept = store.layout.sandbox_index(sandbox.sandbox_id)
    # Before anything tells whether these are as they were captured.
    look = writer.look({*(change.path for change in plan.switching), *plan.chosen_in_the_way})
    with working_index(store, kept) as index:
        git = store.git(root, index)
        survivors = [os.fsencode(path) for path in plan.survivors if not path.endswith("/")]
        out = [*survivors, *plan.handed_over]
        if out:
            take_out(git, out)
        if plan.chosen_in_the_way:
            _take_in_chosen(store, git, root, plan)
        present, changes = plan.present[1], plan.switching
        if out or plan.chosen_in_the_way:
            present = TreeId(git.call("write-tree").text)
            changes = tree_changes(store, present, goal.tree)
        switch_index(git, root, present, goal.tree)
        contents = checked_out(store, index)
        wanted = set(plan.extras.directories)
        writer.change(changes, look, contents, plan.mode_of, wanted.intersection)
        note_written(index, {c.path: c.new for c in changes if c.new}, writer.placed)
        keep_index(index, kept, began_ns=began)
