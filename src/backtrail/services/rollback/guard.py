"""Guard: everything that can be refused before anything is changed, and what is aimed at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointState
from backtrail.domain.errors import GitFailedError
from backtrail.domain.operation import OperationKind
from backtrail.git.checkpoint.commit import read_checkpoint
from backtrail.git.restore.git_state import branches_of, plan_git_state
from backtrail.git.restore.goal import goal_of, refuse_unknown_paths, replacing, whole_paths
from backtrail.git.user.head import read_git_state
from backtrail.services.retention.effective import check_policy_allows_rollback
from backtrail.services.rollback.report import gone_since
from backtrail.services.session.guards import (
    check_may_interrupt,
    check_plan_allows_rollback,
    check_restorable,
    damaged,
    looked_at_again,
    refuse_live_run,
)
from backtrail.services.session.journal import Entry

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CommitId
    from backtrail.domain.rollback import LeftAlone
    from backtrail.git.capture.conflicts import Replacing
    from backtrail.git.checkpoint.state import Captured, Glimpse
    from backtrail.git.restore.git_state import Asked, GitStatePlan
    from backtrail.git.store.store import ObjectWalk
    from backtrail.services.rollback.order import Order
    from backtrail.services.session.context import EnteredSandbox, LockedSandbox


@dataclass(frozen=True, slots=True)
class Aim:
    """What is to be brought back and, for some paths alone, what is there in their place."""

    wanted: Captured
    present: Glimpse | None = None


def check_guards(locked: EnteredSandbox, order: Order, *, abort_run: bool = False) -> Aim:
    """Everything that can be refused before anything is changed."""
    check_plan_allows_rollback(locked.workspace, locked.plan)
    if not abort_run:
        refuse_live_run(locked)
    check_policy_allows_rollback(locked.workspace, locked.plan)
    check_restorable(looked_at_again(locked, order.target))
    check_may_interrupt(locked, during_merge=order.entry.during_merge)
    wanted = content_of(locked, order.target)
    if not order.entry.paths:
        git_plan_for(locked, wanted, order.entry.asked)
        return Aim(wanted)
    present = locked.camera.peek()
    if order.entry.kind is OperationKind.ROLLBACK:
        paths, root = order.entry.paths, locked.sandbox.path
        refuse_unknown_paths(locked.store, root, paths, wanted, present)
    return Aim(wanted, present)


def with_whole_paths(locked: LockedSandbox, order: Order, wanted: Captured) -> Order:
    asked = order.entry.paths
    paths = whole_paths(locked.store, wanted, asked)
    said = tuple(
        f"{path!r} was a file at the checkpoint: it comes back in the place of all that is in it"
        for path in paths
        if path not in asked
    )
    return replace(order, entry=replace(order.entry, paths=paths), said=said)


def replacing_for(locked: LockedSandbox, aim: Aim, entry: Entry) -> Replacing:
    """What will be written over the sandbox: of a partial restore, its goal."""
    if aim.present is None:
        state = aim.wanted.state
        coming = replacing(locked.store, aim.wanted.tree, state.extras, state.included)
        moved = tuple(branches_of(state.git_state)) if entry.move_branch else ()
        return replace(coming, accounted=state.accounted, branches=moved)
    goal = goal_of(locked.store, aim.wanted, aim.present, entry.paths)
    coming = replacing(locked.store, goal.tree, goal.extras, goal.included)
    return replace(coming, accounted=goal.accounted)


def gone_for_good(locked: LockedSandbox, aim: Aim) -> tuple[LeftAlone, ...]:
    """What no rollback brings back, as the sandbox is before it; of some paths alone, nothing."""
    return () if aim.present is not None else gone_since(locked.sandbox.path, aim.wanted.state)


def content_of(locked: LockedSandbox, checkpoint: Checkpoint) -> Captured:
    """What a checkpoint captured, after making sure that all of it is still there."""
    commit = checkpoint.sandbox_ref
    walk = locked.store.start_walk(commit) if commit else None
    content = _read_beside(locked, walk, commit) if walk and commit else None
    if content is None:
        with locked.workspace.database.write() as uow:
            uow.checkpoints.set_state(
                checkpoint.checkpoint_id, CheckpointState.DAMAGED, note="objects are missing"
            )
        raise damaged(checkpoint)
    return content


def _read_beside(locked: LockedSandbox, walk: ObjectWalk, commit: CommitId) -> Captured | None:
    """Read a checkpoint while a walk looks at everything below it; None if anything is missing."""
    try:
        content = read_checkpoint(locked.store, commit).captured
    except GitFailedError:
        # What could not be read because it is missing is what the walk tells.
        if walk.reached_all():
            raise
        return None
    return content if walk.reached_all() else None


def git_plan_for(locked: LockedSandbox, wanted: Captured, asked: Asked) -> GitStatePlan:
    """What would happen to HEAD and branches; refuses what would disturb another worktree."""
    now = read_git_state(locked.sandbox.git_dir, locked.sandbox.branch)
    return plan_git_state(locked.store, locked.sandbox, now, wanted.state.git_state, asked)
