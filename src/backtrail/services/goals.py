"""What a restore must bring about: a whole checkpoint, or some paths of one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.git.partial import selected_entries, tree_with_paths_from
from backtrail.git.restore import Goal

if TYPE_CHECKING:
    from backtrail.git.capture import Captured, Glimpse
    from backtrail.git.store import PrivateStore


def goal_of(
    store: PrivateStore, wanted: Captured, present: Captured | Glimpse, paths: tuple[str, ...]
) -> Goal:
    """The target itself; or, with paths, the present with those paths as the target has them."""
    if not paths:
        state = wanted.state
        return Goal(
            tree=wanted.tree,
            excludes=state.excludes,
            index=state.git_state.index,
            forced=state.forced,
            accounted=state.accounted,
            uncaptured=tuple(entry.path for entry in state.not_captured),
        )
    tree = tree_with_paths_from(store, present.tree, wanted.tree, paths)
    # The rest of the sandbox is judged by the rules of the present. What was selected belongs to
    # the goal even where those rules ignore it.
    rules = present.state
    selected = (os.fsdecode(e.path) for e in selected_entries(store, tree, paths))
    return Goal(tree, rules.excludes, rules.git_state.index, tuple({*rules.forced, *selected}))
