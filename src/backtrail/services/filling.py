"""Filling a worktree that was just made with a captured state, and proving the result."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.domain.ids import CommitId, TreeId
from backtrail.git.capture import Captured
from backtrail.git.gitstate import read_git_state
from backtrail.git.merge_state import MergeState
from backtrail.git.proof import prove_files
from backtrail.git.restore import plan_files, restore_files
from backtrail.git.restore_git_state import (
    Asked,
    plan_git_state,
    prove_git_state,
    restore_git_state,
)
from backtrail.git.state import read_state
from backtrail.git.trees import list_tree
from backtrail.services.goals import goal_of
from backtrail.services.leftovers import gone_since
from backtrail.services.remarks import about_what_is_gone, worth_saying
from backtrail.services.restoring import CLOCK_STEP_NS, refuse_wrong

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backtrail.domain.checkpoint import Origin
    from backtrail.git.gitstate import GitState
    from backtrail.git.store import PrivateStore
    from backtrail.services.workspace import LockedSandbox

_TREE, _STATE = "tree", "state_commit"


@dataclass(frozen=True, slots=True)
class Source:
    """What a new sandbox is filled with instead of the files of its base."""

    contents: Captured
    what: str
    """Where it comes from, in words."""
    origin: Origin | None = None


def as_document(contents: Captured) -> dict[str, str]:
    """What a journal needs to know to find the contents again."""
    return {_TREE: contents.tree, _STATE: contents.state_commit}


def from_document(store: PrivateStore, document: Mapping[str, str]) -> Captured:
    state_commit = CommitId(document[_STATE])
    return Captured(TreeId(document[_TREE]), state_commit, read_state(store, state_commit))


def head_of(contents: Captured) -> CommitId:
    """The commit on which a new branch begins."""
    head = contents.state.git_state.head_commit
    if head is None:
        raise RefusedError(
            "that state has no commit yet, and git makes no worktree without one",
            hint="commit something there first",
        )
    return head


def fill(locked: LockedSandbox, contents: Captured, what: str) -> tuple[str, ...]:
    """Bring the contents about, HEAD on the plan's own branch; gives what is worth saying."""
    ws, store, sandbox = locked.workspace, locked.store, locked.sandbox
    since = time.time_ns() - CLOCK_STEP_NS
    current = locked.camera.capture()
    wanted = _on_own_branch(contents.state.git_state, sandbox.branch)
    goal = goal_of(store, contents, current, ())
    files = plan_files(store, current, goal)
    restore_files(store, sandbox, files)
    ws.failpoints.reach("plan.files_filled")
    now = read_git_state(sandbox.git_dir, sandbox.branch)
    git_plan = plan_git_state(store, sandbox, now, wanted, Asked())
    goal_state = replace(contents.state, git_state=wanted)
    restore_git_state(store, sandbox, git_plan, goal_state, why=what)
    ws.failpoints.reach("plan.git_filled")
    proof = prove_files(store, sandbox, files, (), since)
    git_proof = prove_git_state(store, sandbox, git_plan, wanted)
    refuse_wrong(what, [*proof.wrong, *git_proof.wrong])
    locked.camera.believe(proof.inventory)
    alike = replace(current.state, extras=contents.state.extras)
    told = worth_saying(sandbox.path, contents.state, alike, files)
    return (*told, *git_plan.messages)


def chosen_in(store: PrivateStore, contents: Captured) -> tuple[str, ...]:
    """The ignored files that a state brings along."""
    tree = contents.state.included.tree
    return tuple(os.fsdecode(entry.path) for entry in list_tree(store, tree)) if tree else ()


def lacking(root: Path, contents: Captured) -> tuple[str, ...]:
    """What a new sandbox does not have of a state that it was filled with, in words."""
    gone = gone_since(root, contents.state)
    return tuple(about_what_is_gone(contents.state, gone, "not in the new sandbox"))


def _on_own_branch(state: GitState, branch: str | None) -> GitState:
    """The same with HEAD on a branch of its own: no branch can be checked out twice."""
    return replace(
        state,
        head_ref=f"refs/heads/{branch}",
        branch=branch,
        branch_commit=state.head_commit,
        detached_from=None,
        branches=(),
        # It goes by names of branches that belong to the other sandbox.
        merge=MergeState(state.merge.what, problem="a new sandbox begins without it"),
    )
