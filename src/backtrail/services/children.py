"""Child plans: their place on the parent's timeline, and what moving that timeline does to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from backtrail.domain.errors import RefusedError
from backtrail.domain.operation import RESTORING_KINDS
from backtrail.domain.plan import Phase, PlanState

if TYPE_CHECKING:
    from backtrail.domain.ids import PlanId
    from backtrail.domain.lineage import Lineage
    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan
    from backtrail.storage.database import UnitOfWork

ALREADY_OVER = (PlanState.APPLIED, PlanState.INVALIDATED, PlanState.REMOVED)
_INVALIDATED = "child_plans"


def refuse_as_parent(plan: Plan, child: Plan | None = None) -> None:
    """What is over has no timeline that a child could be on; and a child has one parent."""
    if child and child.parent_plan_id != plan.plan_id:
        raise RefusedError(
            f"plan {child.name!r} already exists, and is no child of plan {plan.name!r}",
            hint="choose another name, or leave --parent out",
        )
    if plan.state in (*ALREADY_OVER, PlanState.CANCELLED):
        raise RefusedError(
            f"plan {plan.name!r} is {plan.state} and cannot get a child plan",
            hint="create the plan without --parent, or name another one",
        )


def place_on_parent(uow: UnitOfWork, plan: Plan) -> tuple[int, int] | None:
    """Epoch and position of the parent where this child begins; None for a plan of its own."""
    if plan.parent_plan_id is None:
        return None
    parent = uow.plans.lock(plan.parent_plan_id)
    refuse_as_parent(parent)
    return parent.current_epoch, uow.plans.next_position(parent.plan_id)


def placed_children(uow: UnitOfWork, plan_id: PlanId) -> Iterator[tuple[Plan, int, int]]:
    """Child plans with the place where each began."""
    for child, epoch, position in uow.plans.children(plan_id):
        if epoch is not None and position is not None:
            yield child, epoch, position


def settle_children(uow: UnitOfWork, operation: Operation, lineage: Lineage) -> Mapping[str, Any]:
    """Invalidate children that are not on the timeline any more, and revive those that are again.

    Gives the part of the operation's result that says what they were before.
    """
    before: dict[str, dict[str, str]] = {}
    for child, epoch, position in placed_children(uow, operation.plan_id):
        live = lineage.contains(epoch, position)
        if live and child.state is PlanState.INVALIDATED:
            uow.plans.set_state(child.plan_id, *_state_before(uow, operation.plan_id, child))
        elif not live and child.state not in ALREADY_OVER:
            before[child.plan_id] = {"phase": child.phase, "state": child.state}
            uow.plans.set_state(child.plan_id, child.phase, PlanState.INVALIDATED)
    return {_INVALIDATED: before} if before else {}


def _state_before(uow: UnitOfWork, plan_id: PlanId, child: Plan) -> tuple[Phase, PlanState]:
    """What the newest operation that invalidated the child found."""
    for operation in reversed(uow.operations.of_kinds(plan_id, RESTORING_KINDS)):
        record: object = operation.result.get(_INVALIDATED)
        known = cast("Mapping[str, Any]", record if isinstance(record, Mapping) else {})
        if child.plan_id in known:
            was = known[child.plan_id]
            return Phase(was["phase"]), PlanState(was["state"])
    return child.phase, PlanState.QUEUED
