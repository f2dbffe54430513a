"""What a restore must bring about: a whole checkpoint, or some paths of one."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.git.chosen import chosen_at
from backtrail.git.extras import Selection, with_selection
from backtrail.git.included import Included, entries_of
from backtrail.git.partial import Arriving, selected_entries, selected_tree, selects
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


def _uncaptured(state: SandboxState) -> frozenset[str]:
    """Paths that were there and of which nobody knows what was there."""
    return frozenset(entry.path for entry in state.not_captured if entry.reason != SET_BITS)


def _partial_goal(
    store: PrivateStore, wanted: Captured, present: Captured | Glimpse, paths: tuple[str, ...]
) -> Goal:
    rules, extras = present.state, wanted.state.extras
    uncaptured = _uncaptured(wanted.state)
    chosen = _included_goal(store, wanted, rules.included, uncaptured)
    selection = frozenset(paths)
    above = _above(store, extras, present, selection)
    arriving = Arriving(
        paths=selection,
        files=selected_entries(store, wanted.tree, selection),
        included=selected_entries(store, chosen.tree, selection),
        bare_directories=tuple(
            d for d in extras.bare_directories if d in above or selects(selection, d)
        ),
        above=above,
    )
    # The rest of the sandbox is judged by the rules of the present. What was selected belongs to
    # the goal even where those rules ignore it.
    selected = (os.fsdecode(entry.path) for entry in arriving.files)
    return Goal(
        tree=arriving.tree_from(store, present.tree, arriving.files),
        ignore_rules=rules.ignore_rules,
        index=rules.git_state.index,
        forced=tuple({*rules.forced, *selected}),
        extras=with_selection(rules.extras, _selection(store, extras, present, arriving)),
        included=_partial_included(store, chosen, rules.included, arriving),
        accounted=tuple(selected_tree(store, tree, selection) for tree in wanted.state.accounted),
        uncaptured=uncaptured,
        before=rules.extras,
    )


def _above(
    store: PrivateStore, extras: Extras, present: Captured | Glimpse, paths: frozenset[str]
) -> frozenset[str]:
    """Directories above the paths of which the target knows that they held nothing, or were absent.

    They come and go with what is below them, if nothing else is in them by now.
    """
    parents = {os.fsdecode(d) for path in paths for d in parents_of(os.fsencode(path))}
    known = parents.intersection((*extras.bare_directories, *extras.absent))
    if not known:
        return frozenset()
    state = present.state
    trees = [tree for tree in (present.tree, state.included.tree) if tree]
    others = [
        *(os.fsdecode(entry.path) for tree in trees for entry in list_tree(store, tree)),
        *(d for d in state.extras.bare_directories if d not in parents),
    ]
    occupied = {
        os.fsdecode(parent)
        for other in others
        if not selects(paths, other)
        for parent in parents_of(os.fsencode(other))
    }
    return frozenset(known - occupied)


def _selection(
    store: PrivateStore, extras: Extras, present: Captured | Glimpse, arriving: Arriving
) -> Selection:
    taken = arriving.takes_back
    entries = [entry for entry in arriving.entries if entry.is_file]
    empty = tuple(d for d in extras.empty_directories if taken(d))
    standing = {d: mode for d, mode in extras.standing.items() if taken(d)}
    selected = replace(extras, empty_directories=empty, standing=standing)
    inside = directories_of([e.path for e in arriving.entries], selected)
    there = directories_of((e.path for e in list_tree(store, present.tree)), present.state.extras)
    # Any other directory above the selected paths that is there stays as it is.
    names = [os.fsdecode(d) for d in inside if d not in there or taken(os.fsdecode(d))]
    return Selection(
        selects=taken,
        files={
            os.fsdecode(e.path): extras.file_mode(os.fsdecode(e.path), e.mode_bits) for e in entries
        },
        directories={d: extras.directory_mode(d) for d in names},
        empty=empty,
        standing=standing,
        absent=tuple(d for d in extras.absent if taken(d)),
    )


def _included_goal(
    store: PrivateStore, wanted: Captured, present: Included, uncaptured: frozenset[str]
) -> Included:
    """The target's chosen files; others go only if the target would have held them, too.

    What was there and could not be captured would have been: it was not absent.
    """
    included = wanted.state.included
    absent = set(included.absent)
    then, now = entries_of(store, included.tree), entries_of(store, present.tree)
    if others := now.keys() - then.keys():
        files = list_tree(store, wanted.tree)
        others.difference_update(entry.path for entry in files)
        looked_for = (e.path for tree in wanted.state.accounted for e in list_tree(store, tree))
        absent.update(map(os.fsdecode, others.intersection(looked_for)))
        if included.choice == present.choice:
            rules = wanted.state.ignore_rules
            new = chosen_at(store, files, rules, included.choice, sorted(others))
            absent.update(p for p in map(os.fsdecode, new) if not selects(uncaptured, p))
    return replace(included, absent=tuple(sorted(absent)))


def _partial_included(
    store: PrivateStore, wanted: Included, present: Included, arriving: Arriving
) -> Included:
    """The present's chosen files, with those under the paths as the whole goal has them."""
    nothing = empty_tree(store.id_length())
    absent = tuple(path for path in wanted.absent if selects(arriving.paths, path))
    if not arriving.included and present.tree is None:
        return replace(present, absent=absent)
    tree = arriving.tree_from(store, present.tree or nothing, arriving.included)
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
