"""What a rollback does to the timeline, counted from the rows and the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.operation import OperationKind
from backtrail.domain.plan import PlanState
from backtrail.domain.rollback import Impact, PostRollbackState
from backtrail.domain.step import StepsLeaving, steps_leaving
from backtrail.domain.timeline import (
    Lineage,
    leaving,
    lineage_of,
    next_epoch_number,
    returning_tombstones,
    tool_calls,
)
from backtrail.services.rollback.child_plans import ALREADY_OVER, descendants, placed_children
from backtrail.services.rollback.forecast import Outlook, live_after

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CheckpointId, PlanId
    from backtrail.domain.plan import Plan
    from backtrail.domain.timeline import TimelineRow
    from backtrail.services.session.context import LockedSandbox
    from backtrail.storage.database import UnitOfWork


def impact_of(locked: LockedSandbox, target: Checkpoint, *, partial: bool) -> Impact:
    """What would leave the timeline if the target were rolled back to now."""
    plan = locked.plan
    with locked.workspace.database.read() as uow:
        now, then = lineages(uow, plan, target)
        if partial:
            then = now
        gone = leaving(uow.checkpoints.timeline(plan.plan_id), now, then)
        decisions = uow.decisions.places(plan.plan_id).values()
        steps = steps_between(uow, plan, now, then)
        runs = uow.runs.places(plan.plan_id).values()
        return Impact(
            checkpoints_superseded=len(gone),
            decisions_after_cp=sum(_leaves(now, then, *place) for place in decisions),
            tool_calls_after_cp=_calls_leaving(uow, plan, now, then, gone),
            runs_after_cp=sum(_leaves(now, then, *place) for place in runs),
            child_plans_invalidated=_children_leaving(uow, plan, now, then),
            steps_superseded=len(steps.superseded),
            steps_pending_again=len(steps.pending_again),
            sandbox=str(locked.sandbox.path),
        )


def tool_calls_after(uow: UnitOfWork, plan: Plan, checkpoint: Checkpoint) -> int:
    """How many calls of tools on the timeline came after a checkpoint."""
    now, then = lineages(uow, plan, checkpoint)
    gone = leaving(uow.checkpoints.timeline(plan.plan_id), now, then)
    return _calls_leaving(uow, plan, now, then, gone)


def _calls_leaving(
    uow: UnitOfWork, plan: Plan, now: Lineage, then: Lineage, gone: list[TimelineRow]
) -> int:
    """Calls in the log, and those that only checkpoints saved by somebody else tell of."""
    logged = sum(_leaves(now, then, *place) for place in tool_places(uow, plan.plan_id))
    known = marks_of_calls(uow, plan.plan_id)
    return logged + tool_calls(row for row in gone if row.checkpoint_id not in known)


def lineages(uow: UnitOfWork, plan: Plan, target: Checkpoint) -> tuple[Lineage, Lineage]:
    """The timeline now, and as a rollback to the target would make it."""
    epochs = uow.epochs.all(plan.plan_id)
    now = lineage_of(plan.current_epoch, epochs)
    then = lineage_of(target.epoch, epochs).branch(target.position, next_epoch_number(epochs))
    return now, then


def _leaves(now: Lineage, then: Lineage, epoch: int, position: int) -> bool:
    return now.contains(epoch, position) and not then.contains(epoch, position)


def _children_leaving(uow: UnitOfWork, plan: Plan, now: Lineage, then: Lineage) -> int:
    """Child plans at any depth that hold now and would not any more."""
    holding, left = (
        {child.plan_id for child, live in descendants(uow, plan.plan_id, lineage) if live}
        for lineage in (now, then)
    )
    gone = holding - left
    return sum(
        child.plan_id in gone and child.state not in ALREADY_OVER
        for child, _ in descendants(uow, plan.plan_id, now)
    )


def _applied_children_leaving(
    uow: UnitOfWork, plan: Plan, now: Lineage, then: Lineage
) -> tuple[str, ...]:
    """A sentence for each child that leaves the timeline although its work is on a branch."""
    return tuple(
        f"child plan {child.name} leaves the timeline, but has been applied and stays so"
        for child, epoch, position in placed_children(uow, plan.plan_id)
        if child.state is PlanState.APPLIED and _leaves(now, then, epoch, position)
    )


def steps_between(uow: UnitOfWork, plan: Plan, now: Lineage, then: Lineage) -> StepsLeaving:
    """Steps that leave one timeline for another, or are pending again."""
    ledgers = (uow.steps.ledger(plan.plan_id, lineage) for lineage in (now, then))
    return steps_leaving(*ledgers)


def state_now(locked: LockedSandbox) -> PostRollbackState:
    """Phase, state and count as the rows have them."""
    with locked.workspace.database.read() as uow:
        plan = uow.plans.get(locked.plan.plan_id)
        remaining = uow.checkpoints.count_live_complete(plan.plan_id)
        return PostRollbackState(plan.phase, plan.state, remaining)


def state_forecast(locked: LockedSandbox, outlook: Outlook) -> PostRollbackState:
    """What `state_now` would say after carrying the order out."""
    plan, entry = locked.plan, outlook.entry
    with locked.workspace.database.read() as uow:
        now, then = lineages(uow, plan, outlook.target)
        lineage = now if entry.paths else then
        remaining = live_after(locked.workspace, uow, plan, outlook, lineage)
    return PostRollbackState(
        entry.phase_after or plan.phase, entry.state_after or plan.state, remaining
    )


def about_the_timeline(
    locked: LockedSandbox, target: Checkpoint, *, partial: bool
) -> tuple[str, ...]:
    """What a rollback to the target should say about checkpoints, steps and child plans."""
    with locked.workspace.database.read() as uow:
        now, then = lineages(uow, locked.plan, target)
        if partial:
            return _steps_left_reusable(steps_between(uow, locked.plan, now, then), target)
        said = _applied_children_leaving(uow, locked.plan, now, then)
        number = returning_tombstones(uow.checkpoints.timeline(locked.plan.plan_id), now, then)
    if number == 0:
        return said
    what, were = (
        ("checkpoint that returns", "was") if number == 1 else ("checkpoints that return", "were")
    )
    return (*said, f"{number} {what} to the timeline {were} pruned and cannot be restored")


def _steps_left_reusable(steps: StepsLeaving, target: Checkpoint) -> tuple[str, ...]:
    """Steps whose work some paths of an earlier state may have undone."""
    number = sum(entry.succeeded for entry in (*steps.superseded, *steps.pending_again))
    if number == 0:
        return ()
    what, they = ("step", "it stays") if number == 1 else ("steps", "they stay")
    came = f"{number} completed {what} came after checkpoint {target.seq}"
    return (f"{came}: {they} reusable, although some paths go back to before",)


def tool_places(uow: UnitOfWork, plan: PlanId) -> list[tuple[int, int]]:
    """Epoch and position of every call."""
    calls = uow.operations.of_kinds(plan, [OperationKind.TOOL])
    return [(call.epoch_before, int(call.result["position"])) for call in calls]


def marks_of_calls(uow: UnitOfWork, plan: PlanId) -> frozenset[CheckpointId]:
    """Checkpoints that a call in the log has made."""
    calls = uow.operations.of_kinds(plan, [OperationKind.TOOL])
    return frozenset(mark for call in calls for mark in call.result["checkpoints"])
