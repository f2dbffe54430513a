"""Cancelling a plan, and taking that back: a change of state alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.domain.lifecycle import StateChange
from backtrail.domain.operation import OperationKind
from backtrail.domain.plan import PlanState
from backtrail.services.journal import Entry, log_done
from backtrail.services.pruning import refuse_while_operating
from backtrail.services.whereabouts import refuse_removed

if TYPE_CHECKING:
    from backtrail.domain.ids import PlanId
    from backtrail.domain.plan import Phase, Plan
    from backtrail.services.workspace import Workspace
    from backtrail.storage.database import UnitOfWork

_OVER = {
    PlanState.APPLIED: "has been applied",
    PlanState.INVALIDATED: "was invalidated by a rollback of its parent plan",
}


def cancel_plan(ws: Workspace, plan_id: PlanId, *, reason: str, wait: float) -> StateChange:
    """Say that nothing more is to come of a plan; its sandbox and checkpoints stay."""
    with ws.holding(ws.plan(plan_id).sandbox, wait=wait), ws.database.write() as uow:
        plan = _idle(uow, plan_id)
        if plan.state is PlanState.CANCELLED:
            return StateChange(plan, changed=False)
        if plan.state in _OVER:
            raise RefusedError(
                f"plan {plan.name!r} {_OVER[plan.state]}: there is nothing to cancel",
                hint=f"plan remove {plan.name} removes it",
            )
        entry = Entry(OperationKind.CANCEL, reason=reason, state_after=PlanState.CANCELLED)
        return _change(ws, uow, plan, entry, plan.phase, PlanState.CANCELLED)


def reopen_plan(ws: Workspace, plan_id: PlanId, *, reason: str, wait: float) -> StateChange:
    """Take a cancellation back: phase and state are what they were before it."""
    with ws.holding(ws.plan(plan_id).sandbox, wait=wait), ws.database.write() as uow:
        plan = _idle(uow, plan_id)
        if plan.state is not PlanState.CANCELLED:
            raise RefusedError(
                f"plan {plan.name!r} is not cancelled: it is {plan.state}",
                hint="there is nothing to take back",
            )
        *_, last = uow.operations.of_kinds(plan_id, (OperationKind.CANCEL,))
        state = last.state_before
        entry = Entry(
            OperationKind.REOPEN, reason=reason, phase_after=last.phase_before, state_after=state
        )
        return _change(ws, uow, plan, entry, last.phase_before, state)


def _idle(uow: UnitOfWork, plan_id: PlanId) -> Plan:
    plan = uow.plans.lock(plan_id)
    refuse_removed(plan)
    refuse_while_operating(uow, plan)
    return plan


def _change(
    ws: Workspace, uow: UnitOfWork, plan: Plan, entry: Entry, phase: Phase, state: PlanState
) -> StateChange:
    log_done(ws, uow, plan, entry)
    uow.plans.set_state(plan.plan_id, phase, state)
    return StateChange(uow.plans.get(plan.plan_id), changed=True)
