"""What a restore would do to files: what comes, what goes, and what stays for a reason.

Only captured paths are ever removed, and of those none that the target's own ignore rules would
have ignored.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.ids import TreeId
from backtrail.domain.rollback import RevertAction, RevertedFile
from backtrail.git.checkpoint.state import Captured, Glimpse
from backtrail.git.ignore.evaluate import ignored_at
from backtrail.git.osfiles.beneath import parents_of
from backtrail.git.restore.goal import Goal
from backtrail.git.restore.metadata import (
    ExtrasPlan,
    plan_extras,
)
from backtrail.git.restore.selected_files import IncludedMoves, included_moves
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
from backtrail.git.store.store import PrivateStore
from backtrail.git.user.head import UserIndex
from backtrail.git.user.index import scratch_index


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
    files, chosen_tree = entries_in(listing), goal.included.tree
    included = list_tree(store, chosen_tree) if chosen_tree else []
    chosen = [entry.path for entry in included]
    handed_over = set(chosen).intersection(going)
    moves = included_moves(store, current.state.included, goal.included)
    written = {*coming, *moves.coming} - _there_already(store, current, moves, files, included)
    extras = plan_extras(
        current.state.extras,
        {*present.finish().checked().records(), *moves.directories},
        goal.extras,
        goal.before,
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
    if ignored:
        # Those were looked for when the goal was captured, and were not there.
        ignored -= {e.path for tree in goal.accounted for e in list_tree(store, tree)}
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
    with scratch_index(store, index) as copy:
        listed = store.git(index=copy).call("ls-files", "-c", "-z").records()
    return paths.intersection(listed)
