"""What a restore must bring about: a whole checkpoint, or some paths of one."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.git.extras import Selection, with_selection
from backtrail.git.included import Included, entries_of, looked_for_by_place
from backtrail.git.judging import ignored_at
from backtrail.git.partial import selected_entries, selects, tree_with_paths_from
from backtrail.git.paths import parents_of
from backtrail.git.replaced import Replacing
from backtrail.git.restore import Goal
from backtrail.git.restore_extras import directories_of
from backtrail.git.storable import SET_BITS
from backtrail.git.trees import empty_tree, list_tree

if TYPE_CHECKING:
    from backtrail.domain.ids import TreeId
    from backtrail.git.capture import Captured, Glimpse
    from backtrail.git.extras import Extras
    from backtrail.git.state import SandboxState
    from backtrail.git.store import PrivateStore


def goal_of(
    store: PrivateStore, wanted: Captured, present: Captured | Glimpse, paths: tuple[str, ...]
) -> Goal:
    """The target itself; or, with paths, the present with those paths as the target has them."""
    if paths:
        return _partial_goal(store, wanted, present, paths)
    state = wanted.state
    uncaptured = _uncaptured(state)
    return Goal(
        tree=wanted.tree,
        ignore_rules=state.ignore_rules,
        index=state.git_state.index,
        forced=state.forced,
        extras=state.extras,
        included=_included_goal(store, wanted, present.state.included, uncaptured),
        accounted=state.accounted,
        uncaptured=uncaptured,
        before=present.state.extras,
    )


def _uncaptured(state: SandboxState) -> tuple[str, ...]:
    """Paths that were there and of which nobody knows what was there."""
    return tuple(entry.path for entry in state.not_captured if entry.reason != SET_BITS)


def _partial_goal(
    store: PrivateStore, wanted: Captured, present: Captured | Glimpse, paths: tuple[str, ...]
) -> Goal:
    rules = present.state
    tree = tree_with_paths_from(store, present.tree, wanted.tree, paths)
    # The rest of the sandbox is judged by the rules of the present. What was selected belongs to
    # the goal even where those rules ignore it.
    selected = (os.fsdecode(e.path) for e in selected_entries(store, tree, paths))
    uncaptured = _uncaptured(wanted.state)
    return Goal(
        tree=tree,
        ignore_rules=rules.ignore_rules,
        index=rules.git_state.index,
        forced=tuple({*rules.forced, *selected}),
        extras=with_selection(rules.extras, _selection(store, wanted, present, paths)),
        included=_partial_included(
            store,
            _included_goal(store, wanted, rules.included, uncaptured),
            rules.included,
            paths,
        ),
        uncaptured=uncaptured,
        before=rules.extras,
    )


def _selection(
    store: PrivateStore, wanted: Captured, present: Captured | Glimpse, paths: tuple[str, ...]
) -> Selection:
    extras = wanted.state.extras
    trees = [tree for tree in (wanted.tree, wanted.state.included.tree) if tree]
    found = [entry for tree in trees for entry in selected_entries(store, tree, paths)]
    entries = [entry for entry in found if entry.is_file]
    empty = tuple(d for d in extras.empty_directories if selects(paths, d))
    standing = {d: mode for d, mode in extras.standing.items() if selects(paths, d)}
    selected = replace(extras, empty_directories=empty, standing=standing)
    inside = directories_of([e.path for e in entries], selected)
    there = directories_of((e.path for e in list_tree(store, present.tree)), present.state.extras)
    # A directory above the selected paths that is there stays as it is.
    names = [os.fsdecode(d) for d in inside if d not in there or selects(paths, os.fsdecode(d))]
    return Selection(
        selects=lambda path: selects(paths, path),
        files={
            os.fsdecode(e.path): extras.file_mode(os.fsdecode(e.path), e.mode_bits) for e in entries
        },
        directories={d: extras.directory_mode(d) for d in names},
        empty=empty,
        standing=standing,
        absent=tuple(d for d in extras.absent if selects(paths, d)),
    )


def _included_goal(
    store: PrivateStore, wanted: Captured, present: Included, uncaptured: tuple[str, ...]
) -> Included:
    """The target's chosen files; others go only if the target would have chosen them, too.

    What was there and could not be captured would have been: it was not absent.
    """
    included = wanted.state.included
    absent = set(included.absent)
    if included.patterns == present.patterns:
        then, now = entries_of(store, included.tree), entries_of(store, present.tree)
        others = map(os.fsdecode, _looked_at(store, wanted, sorted(now.keys() - then.keys())))
        absent.update(path for path in others if not selects(uncaptured, path))
    return replace(included, absent=tuple(sorted(absent)))


def _looked_at(store: PrivateStore, wanted: Captured, paths: list[bytes]) -> list[bytes]:
    """Those paths that the target's capture would have chosen, had they been there.

    It did not look into repositories and, for a name without a slash, into ignored directories.
    """
    state = wanted.state
    inside = tuple(state.extras.repositories)
    outside = [p for p in paths if not selects(inside, os.fsdecode(p))]
    above = sorted({parent + b"/" for path in outside for parent in parents_of(path)})
    if not above:
        return outside
    closed = ignored_at(store, list_tree(store, wanted.tree), state.ignore_rules, above)
    # Of directories in each other only the innermost is judged: what is above an open one is open.
    opened = tuple(directory for directory in above if directory not in closed)
    return [
        path
        for path in outside
        if looked_for_by_place(state.included.patterns, path)
        or b"/" not in path
        or any(directory.startswith(path.rpartition(b"/")[0] + b"/") for directory in opened)
    ]


def _partial_included(
    store: PrivateStore, wanted: Included, present: Included, paths: tuple[str, ...]
) -> Included:
    """The present's chosen files, with those under the paths as the whole goal has them."""
    nothing = empty_tree(store.id_length())
    absent = tuple(path for path in wanted.absent if selects(paths, path))
    if wanted.tree is None and present.tree is None:
        return replace(present, absent=absent)
    tree = tree_with_paths_from(store, present.tree or nothing, wanted.tree or nothing, paths)
    return replace(present, tree=None if tree == nothing else tree, absent=absent)


def replacing(store: PrivateStore, tree: TreeId, extras: Extras, included: Included) -> Replacing:
    """What bringing these about writes over."""
    return Replacing(
        trees=(tree,),
        bare_directories=tuple(map(os.fsencode, extras.bare_directories)),
        absent_directories=tuple(map(os.fsencode, extras.absent)),
        included=tuple(entries_of(store, included.tree)),
        going=tuple(map(os.fsencode, included.absent)),
    )
