"""The prune protocol, by rule or by hand: row announces, ref goes, tombstone commits.

What is to go is decided and marked in one transaction, with the guards looked at inside it. From
then on it is gone, and recovery finishes what a crash leaves. Objects stay in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointState
from backtrail.domain.errors import BacktrailError, RefusedError
from backtrail.domain.operation import OperationKind
from backtrail.domain.retention import (
    KeepReason,
    Kept,
    PruneResult,
    Removed,
    RemoveReason,
    RetentionDecision,
    decide,
    kept_always,
)
from backtrail.services.references import find_checkpoint
from backtrail.services.retention.effective import limits_are_damaged, limits_of
from backtrail.services.retention.needed import protection_now
from backtrail.services.session.enter import held
from backtrail.services.session.guards import looked_at_again
from backtrail.services.session.journal import Entry, log_done
from backtrail.services.steps.output import drop_old_outputs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CheckpointId, PlanId
    from backtrail.domain.plan import Plan
    from backtrail.domain.retention import RetentionRow
    from backtrail.services.session.context import LockedSandbox, Workspace
    from backtrail.storage.database import UnitOfWork


Choice = Callable[["UnitOfWork", "Plan"], "RetentionDecision"]
"""Says, inside the transaction that marks, what is to go."""
_NAMED = 10


def keep_within_limits(locked: LockedSandbox) -> None:
    """Automatic pruning, after a checkpoint or a rollback has succeeded.

    What succeeded stays a success: trouble here is told, and the next command goes on.
    """
    ws, plan_id = locked.workspace, locked.plan.plan_id
    with _told(locked, "old checkpoints"):
        with ws.database.read() as uow:
            output = uow.steps.kept_output_bytes(plan_id)
            count = uow.pruning.count_complete(plan_id)
        if output > ws.settings.steps.max_output_bytes:
            with _told(locked, "old output of steps"):
                drop_old_outputs(locked)
        _keep_checkpoints_within_limits(locked, count)


def _keep_checkpoints_within_limits(locked: LockedSandbox, count: int) -> None:
    ws, plan = locked.workspace, locked.plan
    limits = limits_of(ws, plan)
    if limits_are_damaged(ws, plan):
        # The plan may have wished to keep far more than the usual limits let it.
        return
    if limits.counts_alone and count <= limits.max_checkpoints:
        return
    left = prune(locked, lambda uow, plan: decision_now(ws, uow, plan), OperationKind.PRUNE)
    _tell_exceeded(locked, left)


def _tell_exceeded(locked: LockedSandbox, left: RetentionDecision) -> None:
    """Say that more stays than the limits allow; a command that prunes twice says it once."""
    more = [f"{left.over_limit} more than the limit of {left.policy.max_checkpoints}"]
    more = more if left.over_limit else []
    more += [f"{left.over_bytes} bytes more than the limit"] if left.over_bytes else []
    if more:
        name, notices = locked.plan.name, locked.workspace.notices
        why = (
            ": labels, pins, undo or the like keep them; "
            f"plan checkpoint prune {name} --dry-run -v says which"
        )
        notices[:] = [said for said in notices if not said.endswith(why)]
        notices.append(f"{len(left.kept)} checkpoints stay, {' and '.join(more)}{why}")


@contextmanager
def _told(locked: LockedSandbox, what: str) -> Generator[None]:
    try:
        yield
    except (BacktrailError, OSError) as error:
        locked.workspace.notices.append(
            f"{what} could not be pruned: {error}; the next command goes on with it"
        )


def decision_now(
    workspace: Workspace, uow: UnitOfWork, plan: Plan, *, max_checkpoints: int | None = None
) -> RetentionDecision:
    """What the plan's limits say, or what they would say with another number of checkpoints."""
    policy = limits_of(workspace, plan)
    if max_checkpoints is not None:
        policy = replace(policy, max_checkpoints=max_checkpoints)
    rows, broken = uow.pruning.candidates(plan.plan_id), uow.pruning.broken(plan.plan_id)
    protected = protection_now(uow, plan, rows)
    return decide(rows, policy, protected, workspace.now(), broken)


def prune(locked: LockedSandbox, choose: Choice, kind: OperationKind) -> RetentionDecision:
    """Remove what is chosen, if anything is."""
    ws, plan_id = locked.workspace, locked.plan.plan_id
    _look_again_at_damaged(locked)
    with ws.database.write() as uow:
        plan = uow.plans.lock(plan_id)
        refuse_while_operating(uow, plan)
        decision = choose(uow, plan)
        if not decision.removed:
            return decision
        removed = [entry.checkpoint.seq for entry in decision.removed]
        reason = f"checkpoints {', '.join(map(str, removed[:_NAMED]))}"
        entry = Entry(kind, reason=reason + (", …" if len(removed) > _NAMED else ""))
        operation = log_done(ws, uow, plan, entry, outcome={"removed": removed})
        gone = {each.checkpoint.checkpoint_id: each.reason for each in decision.removed}
        uow.pruning.start(gone, operation)
    ws.failpoints.reach("prune.marked")
    _unpin(locked, decision)
    ws.failpoints.reach("prune.unpinned")
    with ws.database.write() as uow:
        uow.pruning.finish(plan_id)
    ws.failpoints.reach("prune.tombstoned")
    return decision


def _look_again_at_damaged(locked: LockedSandbox) -> None:
    """What was found damaged may be whole by now, its objects brought back from a copy."""
    ws, plan_id = locked.workspace, locked.plan.plan_id
    with ws.database.read() as uow:
        broken = [uow.checkpoints.get(row.checkpoint_id) for row in uow.pruning.broken(plan_id)]
    for checkpoint in filter(None, broken):
        looked_at_again(locked, checkpoint)


def _unpin(locked: LockedSandbox, decision: RetentionDecision) -> None:
    gone = [entry.checkpoint for entry in decision.removed]
    commits = {row.checkpoint_id: row.sandbox_ref for row in gone if row.sandbox_ref}
    if len(commits) < len(gone):
        # One that failed has no commit in its row, and may have got a ref all the same.
        refs = locked.store.refs_of(locked.sandbox.sandbox_id)
        commits |= {r.checkpoint_id: refs[r.checkpoint_id] for r in gone if r.checkpoint_id in refs}
    locked.workspace.progress("removing checkpoints")
    locked.workspace.database.check()
    locked.store.unpin(locked.sandbox.sandbox_id, commits)


def refuse_while_operating(uow: UnitOfWork, plan: Plan) -> None:
    for operation in uow.operations.unfinished(plan.plan_id):
        raise RefusedError(
            f"{operation.kind} {operation.number} of plan {plan.name!r} is under way",
            hint="try again when it has ended",
        )


_DELETABLE = (CheckpointState.COMPLETE, CheckpointState.DAMAGED, CheckpointState.FAILED)
_ALWAYS = "the first and the latest checkpoint of a plan are always kept"
_REFUSED = {
    KeepReason.FIRST: ("it is the first of the plan", _ALWAYS),
    KeepReason.LATEST: ("it is the latest of the plan", _ALWAYS),
    KeepReason.PINNED: ("it is pinned", "plan checkpoint unpin {plan} {seq} unpins it"),
    KeepReason.LABELLED: (
        "it has a label",
        "plan checkpoint label {plan} {seq} --clear takes it away",
    ),
    KeepReason.UNDO_REDO: (
        "undo or redo needs it",
        "plan policy {plan} --undo-depth N lets the next rollback forget older ones",
    ),
    KeepReason.OPERATION: (
        "an operation that is under way needs it",
        "try again when it has ended",
    ),
    KeepReason.STEP: (
        "a step that has not come to its end began there",
        "run the step again; plan steps {plan} shows which one is pending",
    ),
    KeepReason.RUN: ("the run that is active needs it", "try again when it has ended"),
}


def remove(
    workspace: Workspace,
    plan: PlanId,
    choose: Choice,
    kind: OperationKind,
    *,
    dry_run: bool,
    wait: float,
) -> PruneResult:
    """Remove what is chosen of a plan that nobody else touches; a dry run says what that is."""
    with held(workspace, plan, dry_run=dry_run, wait=wait) as locked:
        limits_are_damaged(workspace, locked.plan)
        if not dry_run:
            return PruneResult(locked.plan, prune(locked, choose, kind), dry_run=False)
        with workspace.database.read() as uow:
            return PruneResult(locked.plan, choose(uow, locked.plan), dry_run=True)


def chosen_by_hand(
    workspace: Workspace, uow: UnitOfWork, plan: Plan, references: Sequence[str]
) -> RetentionDecision:
    """The checkpoints that the references name go and all others stay; all may go, or none does."""
    wanted = {c.checkpoint_id: c for c in (find_checkpoint(uow, plan, r) for r in references)}
    policy = limits_of(workspace, plan)
    rows = sorted(uow.pruning.candidates(plan.plan_id), key=lambda row: row.position)
    protected = protection_now(uow, plan, rows)
    always = kept_always(rows, policy, protected)
    broken = [row for row in uow.pruning.broken(plan.plan_id) if row.checkpoint_id in wanted]
    spared = {**protected.needed, **_named(broken), **always}
    for checkpoint in wanted.values():
        _refuse_needed(plan, checkpoint, spared.get(checkpoint.checkpoint_id))
    return RetentionDecision(
        policy,
        kept=tuple(
            Kept(row, always.get(row.checkpoint_id, KeepReason.WITHIN_LIMITS))
            for row in rows
            if row.checkpoint_id not in wanted
        ),
        removed=tuple(
            Removed(row, RemoveReason.ASKED_FOR)
            for row in sorted((*rows, *broken), key=lambda row: row.position)
            if row.checkpoint_id in wanted
        ),
    )


def _named(rows: Iterable[RetentionRow]) -> dict[CheckpointId, KeepReason]:
    return {
        row.checkpoint_id: KeepReason.PINNED if row.pinned else KeepReason.LABELLED
        for row in rows
        if row.named
    }


def _refuse_needed(plan: Plan, checkpoint: Checkpoint, reason: KeepReason | None) -> None:
    cannot = f"checkpoint {checkpoint.seq} cannot be deleted"
    if checkpoint.state not in _DELETABLE:
        raise RefusedError(
            f"{cannot}: it {checkpoint.what_became_of_it}",
            hint=f"plan checkpoint list {plan.name} shows the ones that can",
        )
    if reason is not None and reason in _REFUSED:
        why, hint = _REFUSED[reason]
        raise RefusedError(f"{cannot}: {why}", hint=hint.format(plan=plan.name, seq=checkpoint.seq))
