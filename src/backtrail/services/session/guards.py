"""Reasons to refuse a rollback, looked at before anything is changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointState
from backtrail.domain.errors import RefusedError
from backtrail.domain.operation import OperationKind
from backtrail.domain.plan import PlanState, SandboxKind, how_to_revert
from backtrail.git.osfiles.locks import wait_for_git
from backtrail.git.user.index import HOLDS_INDEX
from backtrail.git.user.merge_state import under_way

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback import RevertedFile
    from backtrail.domain.run import Run
    from backtrail.git.checkpoint.state import SandboxState
    from backtrail.services.session.context import EnteredSandbox, LockedSandbox, Workspace


_WAYS_ON = {
    PlanState.APPLIED: "create a new plan",
    PlanState.INVALIDATED: "undo that rollback first",
    PlanState.REMOVED: "plan restore brings it back",
}


def check_plan_allows_rollback(ws: Workspace, plan: Plan) -> None:
    if plan.state is PlanState.APPLIED:
        raise RefusedError(
            f"plan {plan.name!r} has been applied: it cannot be rolled back",
            hint=f"{_revert(ws, plan)} takes the applied work back",
        )
    check_plan_open(plan, "it cannot be rolled back")


def said_if_over(plan: Plan) -> tuple[str, ...]:
    """A sentence about a plan in which nothing more can be done."""
    return (f"plan {plan.name} {plan.state.end}",) if plan.state.end else ()


def check_plan_open(plan: Plan, so: str) -> None:
    """Refuse what a plan that is over cannot have any more."""
    if plan.state.end:
        hint = _WAYS_ON[plan.state]
        raise RefusedError(f"plan {plan.name!r} {plan.state.end}: {so}", hint=hint)


def _revert(ws: Workspace, plan: Plan) -> str:
    """How to take back what the apply that the log has last did."""
    with ws.database.read() as uow:
        applies = uow.operations.of_kinds(plan.plan_id, [OperationKind.APPLY])
    if not applies:
        return "git revert"
    done = applies[-1].result
    return how_to_revert(done["strategy"], done["commit"], done["previous_head"])


def check_plan_allows_work(plan: Plan) -> None:
    check_plan_open(plan, "nothing is run in it")


def refuse_live_run(locked: EnteredSandbox, *, end: str = "--abort-run") -> None:
    """No run may be live in a sandbox, unless it is the one that this is done for."""
    check_no_run(locked.workspace, locked.plan, locked.rows.run, end=end)


def check_no_run(workspace: Workspace, plan: Plan, live: Run | None, *, end: str) -> None:
    if live is not None and live.run_id != workspace.run_id:
        raise RefusedError(
            f"run {live.number} of plan {plan.name!r} is active",
            hint=f"wait for it, or end it with {end}",
        )


def check_leaves_other_sandboxes(
    locked: LockedSandbox, now: SandboxState, changes: Iterable[RevertedFile]
) -> None:
    """The files of a plan whose sandbox lies inside this one are rolled back by that plan alone."""
    if not now.extras.repositories:
        # A sandbox inside this one would be a repository in it.
        return
    ws, root = locked.workspace, locked.sandbox.path
    with ws.database.read() as uow:
        others = uow.plans.list(ws.repository_id)
    inside = {
        f"{other.sandbox.path.relative_to(root).as_posix()}/": other.name
        for other in others
        if other.plan_id != locked.plan.plan_id and other.sandbox.path.is_relative_to(root)
    }
    for path in (change.file for change in changes):
        for place, name in inside.items():
            if path.startswith(place):
                raise RefusedError(
                    f"{path!r} would be changed, and belongs to plan {name!r}, "
                    "whose sandbox lies inside this one",
                    hint=f"let .gitignore name {place!r}, or plan remove {name} first",
                    details={"path": path, "plan": name},
                )


def foretell_abort(workspace: Workspace, plan: Plan) -> None:
    """Say which run would be ended first; what it does until then nobody can foretell."""
    with workspace.database.read() as uow:
        live = uow.runs.live(plan.plan_id)
    if live is not None:
        workspace.notices.append(f"run {live.number} of plan {plan.name} would be ended first")


def looked_at_again(locked: LockedSandbox, checkpoint: Checkpoint) -> Checkpoint:
    """A checkpoint that was found damaged, made complete again if its objects are back."""
    commit = checkpoint.sandbox_ref
    if checkpoint.state is not CheckpointState.DAMAGED or commit is None:
        return checkpoint
    if not locked.store.connected(commit):
        return checkpoint
    with locked.workspace.database.write() as uow:
        uow.checkpoints.set_state(checkpoint.checkpoint_id, CheckpointState.COMPLETE)
    return replace(checkpoint, state=CheckpointState.COMPLETE)


def check_restorable(checkpoint: Checkpoint, *, done: str = "restored") -> None:
    if not checkpoint.restorable:
        raise RefusedError(
            f"checkpoint {checkpoint.seq} cannot be {done}: it {checkpoint.what_became_of_it}",
            hint="plan checkpoint list shows the ones that can",
        )


def check_sandbox_quiet(locked: LockedSandbox) -> None:
    """No merge-like operation and no other git may be at work in the sandbox."""
    check_no_git_lock(locked)
    what = under_way(locked.sandbox.git_dir)
    if what:
        raise RefusedError(
            f"{what} is under way in the sandbox",
            hint="finish or abort it first (git status says how); a checkpoint can be made now",
        )


def check_may_interrupt(locked: LockedSandbox, *, during_merge: bool) -> None:
    """What is under way in a sandbox of the user's is left to the user, unless they have said so.

    In one of ours it is saved with all else.
    """
    check_no_git_lock(locked)
    what = under_way(locked.sandbox.git_dir)
    if what and locked.sandbox.kind is SandboxKind.ATTACHED and not during_merge:
        raise RefusedError(
            f"{what} is under way in the sandbox",
            hint="finish or abort it first (git status says how), or add --during-merge: "
            "it is saved, and undo brings it back",
        )


def check_no_git_lock(locked: LockedSandbox) -> None:
    """No other git may be about to change index, HEAD or branch, or have left its lock behind."""
    sandbox, deadline = locked.sandbox, locked.store.deadline
    wait_for_git(sandbox.git_dir / "index.lock", HOLDS_INDEX, deadline)
    wait_for_git(sandbox.git_dir / "HEAD.lock", "is about to move HEAD of the sandbox", deadline)
    if sandbox.branch is not None:
        lock = locked.workspace.common_dir / "refs" / "heads" / f"{sandbox.branch}.lock"
        wait_for_git(lock, f"is about to move branch {sandbox.branch!r}", deadline)


def damaged(checkpoint: Checkpoint) -> RefusedError:
    return RefusedError(
        f"checkpoint {checkpoint.seq} cannot be restored: it is {CheckpointState.DAMAGED}, "
        "objects of it are missing from the store",
        hint="plan checkpoint list shows the ones that can",
    )
