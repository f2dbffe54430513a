"""Child plans: their place on the parent's timeline, and what moving that timeline does to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

from backtrail.domain.errors import RefusedError
from backtrail.domain.operation import RESTORING_KINDS
from backtrail.domain.plan import Phase, PlanState
from backtrail.domain.timeline import Lineage

if TYPE_CHECKING:
    from backtrail.domain.ids import PlanId
    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan
    from backtrail.storage.database import UnitOfWork


_INVALIDATED = "child_plans"


def refuse_as_parent(plan: Plan, child: Plan | None = None) -> None:
    """What is over has no timeline that a child could be on; and a child has one parent."""
    if child and child.parent_plan_id != plan.plan_id:
        raise RefusedError(
            f"plan {child.name!r} already exists, and is no child of plan {plan.name!r}",
            hint="choose another name, or leave --parent out",
        )
    if plan.state.end or plan.state is PlanState.CANCELLED:
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


def descendants(
    uow: UnitOfWork, plan_id: PlanId, lineage: Lineage, *, holds: bool = True
) -> Iterator[tuple[Plan, bool]]:
    """Child plans at any depth, and whether each is on the timeline of every plan above it.

    What came out of an applied plan stays with that plan, whose work nobody takes back.
    """
    for child, epoch, position in placed_children(uow, plan_id):
        live = holds and lineage.contains(epoch, position)
        yield child, live
        stays = live or child.state is PlanState.APPLIED
        yield from descendants(uow, child.plan_id, _timeline(uow, child), holds=stays)


def settle_children(uow: UnitOfWork, operation: Operation, lineage: Lineage) -> Mapping[str, Any]:
    """Invalidate those below that are not on the timeline any more, and revive those that are.

    Gives the part of the operation's result that says what they were before.
    """
    before: dict[str, dict[str, str]] = {}
    holds = uow.plans.get(operation.plan_id).state is not PlanState.INVALIDATED
    for child, live in list(descendants(uow, operation.plan_id, lineage, holds=holds)):
        phase, state, note = _settled(uow, child, (child.phase, child.state), live=live)
        if state is not child.state:
            uow.plans.set_state(child.plan_id, phase, state)
        before |= note
    return {_INVALIDATED: before} if before else {}


def settled_return(
    uow: UnitOfWork, plan: Plan, phase: Phase, state: PlanState
) -> tuple[Phase, PlanState, Mapping[str, Any]]:
    """In which state a plan returns that was away, and what its operation has to note of that.

    While it was away the timeline of its parent may have moved either way.
    """
    live = _is_on_timelines(uow, plan)
    phase, state, note = _settled(uow, plan, (phase, state), live=live)
    return phase, state, {_INVALIDATED: note} if note else {}


def _settled(
    uow: UnitOfWork, child: Plan, now: tuple[Phase, PlanState], *, live: bool
) -> tuple[Phase, PlanState, dict[str, dict[str, str]]]:
    phase, state = now
    if live and state is PlanState.INVALIDATED:
        return *_state_before(uow, child), {}
    if not live and not state.end:
        return phase, PlanState.INVALIDATED, {child.plan_id: {"phase": phase, "state": state}}
    return phase, state, {}


def _is_on_timelines(uow: UnitOfWork, plan: Plan) -> bool:
    """Whether a plan's place is on its parent's timeline, and the parent's on that of its own."""
    if plan.parent_plan_id is None:
        return True
    parent = uow.plans.get(plan.parent_plan_id)
    lineage = _timeline(uow, parent)
    places = {child.plan_id: place for child, *place in placed_children(uow, parent.plan_id)}
    held = plan.plan_id in places and lineage.contains(*places[plan.plan_id])
    # The work of an applied plan is never taken back, whatever becomes of those above it.
    return held and (parent.state is PlanState.APPLIED or _is_on_timelines(uow, parent))


def _state_before(uow: UnitOfWork, child: Plan) -> tuple[Phase, PlanState]:
    """What the newest operation that invalidated the child found: its own, or one above it."""
    found = [
        (operation.operation_id, known[child.plan_id])
        for plan_id in _upwards(uow, child)
        for operation in uow.operations.of_kinds(plan_id, RESTORING_KINDS)
        if child.plan_id in (known := _noted(operation))
    ]
    if not found:
        return child.phase, PlanState.QUEUED
    _, was = max(found, key=itemgetter(0))
    return Phase(was["phase"]), PlanState(was["state"])


def _noted(operation: Operation) -> Mapping[str, Any]:
    record: object = operation.result.get(_INVALIDATED)
    return cast("Mapping[str, Any]", record if isinstance(record, Mapping) else {})


def _upwards(uow: UnitOfWork, plan: Plan) -> Iterator[PlanId]:
    """The plan itself, its parent, and so on."""
    yield plan.plan_id
    while plan.parent_plan_id is not None:
        plan = uow.plans.get(plan.parent_plan_id)
        yield plan.plan_id


def _timeline(uow: UnitOfWork, plan: Plan) -> Lineage:
    return uow.epochs.lineage(plan.plan_id, plan.current_epoch)
