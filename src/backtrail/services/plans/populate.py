"""What a new sandbox is filled with: a captured state, or the changes of a checkout."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.domain.ids import CommitId, PlanId, SandboxId, TreeId
from backtrail.domain.plan import Sandbox, SandboxKind
from backtrail.git.checkpoint.state import Captured, read_state
from backtrail.git.restore.git_state import (
    Asked,
    plan_git_state,
    prove_git_state,
    restore_git_state,
)
from backtrail.git.restore.goal import goal_of
from backtrail.git.restore.plan import plan_files
from backtrail.git.restore.proof import prove_files
from backtrail.git.restore.write import restore_files
from backtrail.git.store.objects import list_tree
from backtrail.git.user.discovery import gitdir_backlink, worktree_at
from backtrail.git.user.head import read_git_state
from backtrail.git.user.identity import refuse_own_files_inside
from backtrail.git.user.merge_state import MergeState
from backtrail.git.user.transfer import bring_tip
from backtrail.services.rollback.report import about_what_is_gone, gone_since, worth_saying
from backtrail.services.rollback.restore import CLOCK_STEP_NS, refuse_wrong
from backtrail.services.session.context import DEFAULT_WAIT, new_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backtrail.domain.checkpoint import Origin
    from backtrail.git.store.store import PrivateStore
    from backtrail.git.user.head import GitState
    from backtrail.services.session.context import LockedSandbox, Workspace


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
    git_plan = restore_git_state(store, sandbox, git_plan, goal_state, why=what)
    ws.failpoints.reach("plan.git_filled")
    proof = prove_files(store, sandbox, files, (), since)
    git_proof = prove_git_state(store, sandbox, git_plan, wanted)
    refuse_wrong(what, [*proof.wrong, *git_proof.wrong])
    locked.camera.keep_inventory(proof.inventory)
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


def capture_checkout(ws: Workspace) -> Captured:
    """What is in the checkout that the caller is in: staged, changed, untracked and deleted."""
    place = _stand_in(ws)
    refuse_own_files_inside(place.path, ws.own_paths)
    layout, sandbox_id = ws.layout, place.sandbox_id
    ws.progress("looking at your checkout")
    try:
        with ws.holding(place, wait=DEFAULT_WAIT) as store:
            store.link_user_objects()
            if place.base_commit:
                bring_tip(store, place.base_commit)
            return ws.camera(place, store).capture()
    finally:
        # It was looked at once; nothing of it has to be quick a second time.
        for leftover in (*layout.indexes.glob(f"{sandbox_id}*"), layout.sandbox_lock(sandbox_id)):
            leftover.unlink(missing_ok=True)


def _stand_in(ws: Workspace) -> Sandbox:
    """The checkout, described as if it were a sandbox."""
    root = _root(ws)
    if root is None or worktree_at(root) is None:
        raise RefusedError(
            "there is no checkout here whose changes could be taken along",
            hint="run this in a worktree of the repository, or leave --from-dirty out",
        )
    return Sandbox(
        sandbox_id=SandboxId(new_id()),
        plan_id=PlanId(new_id()),
        kind=SandboxKind.ATTACHED,
        path=root,
        git_dir=ws.start_git_dir,
        branch=None,
        base_commit=read_git_state(ws.start_git_dir, None).head_commit,
        store_id=ws.store_id,
        host_id=ws.host_id,
    )


def _root(ws: Workspace) -> Path | None:
    if ws.start_git_dir == ws.common_dir:
        return ws.main_root
    backlink = gitdir_backlink(ws.start_git_dir)
    return backlink.parent if backlink else None
