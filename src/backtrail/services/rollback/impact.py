"""What a rollback does to the timeline, counted from the rows and the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.ledger import StepsLeaving, steps_leaving
from backtrail.domain.operation import OperationKind
from backtrail.domain.plan import PlanState
from backtrail.domain.rollback import Impact, PostRollbackState
from backtrail.domain.timeline import TimelineChange, lineage_of, next_epoch_number, tool_calls
from backtrail.services.rollback.child_plans import descendants, placed_children
from backtrail.services.rollback.forecast import Outlook, live_after

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.plan import Plan
    from backtrail.domain.timeline import TimelineRow
    from backtrail.services.session.context import LockedSandbox
    from backtrail.storage.database import UnitOfWork


@dataclass(frozen=True, slots=True)
class Effect:
    """What a rollback would do to the timeline, and what is to be said of that."""

    impact: Impact
    remarks: tuple[str, ...]


def effect_of(
    uow: UnitOfWork, locked: LockedSandbox, target: Checkpoint, *, partial: bool
) -> Effect:
    """What would leave the timeline if the target were rolled back to now."""
    plan, whole = locked.plan, timeline_change(uow, locked.plan, target)
    change = TimelineChange(whole.now, whole.now) if partial else whole
    rows = uow.checkpoints.timeline(plan.plan_id)
    gone = change.leaving(rows)
    decisions = uow.decisions.places(plan.plan_id).values()
    steps = steps_between(uow, plan, whole)
    left = StepsLeaving() if partial else steps
    runs = uow.runs.places(plan.plan_id).values()
    children = list(placed_children(uow, plan.plan_id))
    impact = Impact(
        checkpoints_superseded=len(gone),
        decisions_after_cp=sum(change.loses(*place) for place in decisions),
        tool_calls_after_cp=_calls_leaving(uow, plan, change, gone),
        runs_after_cp=sum(change.loses(*place) for place in runs),
        child_plans_invalidated=_children_leaving(uow, plan, change) if children else 0,
        steps_superseded=len(left.superseded),
        steps_pending_again=len(left.pending_again),
        sandbox=str(locked.sandbox.path),
    )
    if partial:
        return Effect(impact, _steps_left_reusable(steps, target))
    remarks = (*_applied_children_leaving(children, change), *_tombstones(change, rows))
    return Effect(impact, remarks)


def tool_calls_after(uow: UnitOfWork, plan: Plan, checkpoint: Checkpoint) -> int:
    """How many calls of tools on the timeline came after a checkpoint."""
    change = timeline_change(uow, plan, checkpoint)
    gone = change.leaving(uow.checkpoints.timeline(plan.plan_id))
    return _calls_leaving(uow, plan, change, gone)


def _calls_leaving(
    uow: UnitOfWork, plan: Plan, change: TimelineChange, gone: list[TimelineRow]
) -> int:
    """Calls in the log, and those that only checkpoints saved by somebody else tell of."""
    calls = uow.operations.of_kinds(plan.plan_id, [OperationKind.TOOL])
    logged = sum(change.loses(call.epoch_before, int(call.result["position"])) for call in calls)
    known = {mark for call in calls for mark in call.result["checkpoints"]}
    return logged + tool_calls(row for row in gone if row.checkpoint_id not in known)


def timeline_change(uow: UnitOfWork, plan: Plan, target: Checkpoint) -> TimelineChange:
    """The timeline now, and as a rollback to the target would make it."""
    epochs = uow.epochs.all(plan.plan_id)
    now = lineage_of(plan.current_epoch, epochs)
    then = lineage_of(target.epoch, epochs).branch(target.position, next_epoch_number(epochs))
    return TimelineChange(now, then)


def _children_leaving(uow: UnitOfWork, plan: Plan, change: TimelineChange) -> int:
    """Child plans at any depth that hold now and would not any more."""
    holding, left = (
        {child.plan_id for child, live in descendants(uow, plan.plan_id, lineage) if live}
        for lineage in (change.now, change.then)
    )
    gone = holding - left
    return sum(
        child.plan_id in gone and not child.state.end
        for child, _ in descendants(uow, plan.plan_id, change.now)
    )


def _applied_children_leaving(
    children: Iterable[tuple[Plan, int, int]], change: TimelineChange
) -> tuple[str, ...]:
    """A sentence for each child that leaves the timeline although its work is on a branch."""
    return tuple(
        f"child plan {child.name} leaves the timeline, but has been applied and stays so"
        for child, *place in children
        if child.state is PlanState.APPLIED and change.loses(*place)
    )


def _tombstones(change: TimelineChange, rows: Iterable[TimelineRow]) -> tuple[str, ...]:
    """What to say of pruned checkpoints that are on the timeline again."""
    number = change.returning_tombstones(rows)
    if number == 0:
        return ()
    what, were = (
        ("checkpoint that returns", "was") if number == 1 else ("checkpoints that return", "were")
    )
    return (f"{number} {what} to the timeline {were} pruned and cannot be restored",)


def steps_between(uow: UnitOfWork, plan: Plan, change: TimelineChange) -> StepsLeaving:
    """Steps that leave one timeline for another, or are pending again."""
    ledgers = (uow.steps.ledger(plan.plan_id, lineage) for lineage in (change.now, change.then))
    return steps_leaving(*ledgers)


def state_now(locked: LockedSandbox) -> tuple[Plan, PostRollbackState]:
    """The plan, and phase, state and count, as the rows have them."""
    with locked.workspace.database.read() as uow:
        plan = uow.plans.get(locked.plan.plan_id)
        remaining = uow.checkpoints.count_live_complete(plan.plan_id)
        return plan, PostRollbackState(plan.phase, plan.state, remaining)


def state_forecast(uow: UnitOfWork, locked: LockedSandbox, outlook: Outlook) -> PostRollbackState:
    """What `state_now` would say after carrying the order out."""
    plan, entry = locked.plan, outlook.entry
    change = timeline_change(uow, plan, outlook.target)
    lineage = change.now if entry.paths else change.then
    remaining = live_after(locked.workspace, uow, plan, outlook, lineage)
    return PostRollbackState(
        entry.phase_after or plan.phase, entry.state_after or plan.state, remaining
    )


def _steps_left_reusable(steps: StepsLeaving, target: Checkpoint) -> tuple[str, ...]:
    """Steps whose work some paths of an earlier state may have undone."""
    number = sum(entry.succeeded for entry in (*steps.superseded, *steps.pending_again))
    if number == 0:
        return ()
    what, they = ("step", "it stays") if number == 1 else ("steps", "they stay")
    came = f"{number} completed {what} came after checkpoint {target.seq}"
    return (f"{came}: {they} reusable, although some paths go back to before",)
