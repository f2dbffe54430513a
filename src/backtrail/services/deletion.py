"""Pruning and deleting checkpoints by hand: which ones may go, and why others may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointState
from backtrail.domain.errors import RefusedError
from backtrail.domain.retention import kept_always
from backtrail.domain.retention_values import (
    KeepReason,
    Kept,
    PruneResult,
    Removed,
    RemoveReason,
    RetentionDecision,
)
from backtrail.services.access import held
from backtrail.services.limits import limits_are_damaged, limits_of
from backtrail.services.protection import protection_now
from backtrail.services.pruning import prune
from backtrail.services.references import find_checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CheckpointId, PlanId
    from backtrail.domain.operation import OperationKind
    from backtrail.domain.plan import Plan
    from backtrail.domain.retention_values import RetentionRow
    from backtrail.services.pruning import Choice
    from backtrail.services.workspace import Workspace
    from backtrail.storage.database import UnitOfWork

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
