"""Finding the decision that a reference names: `D3`, `3`, an id or its beginning, `current`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.decision import CURRENT, number_in
from backtrail.domain.errors import AmbiguousError, NotFoundError, RefusedError
from backtrail.domain.lineage import Lineage, lineage_of
from backtrail.domain.reference import ULID_LENGTH

if TYPE_CHECKING:
    from backtrail.domain.decision import Decision
    from backtrail.domain.ids import DecisionId
    from backtrail.domain.plan import Plan
    from backtrail.storage.database import UnitOfWork

_SHOWN = 5
# Fewer digits than this are a number that does not exist, not the beginning of an id.
_SHORTEST_PREFIX = 4
_HINT = "plan decision list --all shows every decision of the plan"


def find_decision(uow: UnitOfWork, plan: Plan, text: str) -> Decision:
    """The decision of this plan that the text names; a number beats the beginning of an id."""
    found = search_decision(uow, plan, text)
    if found is None:
        raise NotFoundError(f"plan {plan.name!r} has no decision {text!r}", hint=_HINT)
    return found


def search_decision(uow: UnitOfWork, plan: Plan, text: str) -> Decision | None:
    """The same; None if there is no such decision."""
    number = number_in(text)
    found = None
    if text == CURRENT:
        newest = current_decision(uow, plan)
        found = uow.decisions.get(plan.plan_id, newest) if newest else None
    elif number is not None:
        found = uow.decisions.by_seq(plan.plan_id, number)
    return found or _by_prefix(uow, plan, text)


def live_decision(uow: UnitOfWork, plan: Plan, text: str) -> DecisionId:
    """The id of a decision that holds; what is superseded can have nothing new follow from it."""
    found = find_decision(uow, plan, text)
    check_live(uow, plan, found)
    return found.decision_id


def check_live(uow: UnitOfWork, plan: Plan, decision: Decision) -> None:
    if decision.place is None:
        raise RefusedError(
            f"decision {decision.number} of plan {plan.name!r} was never finished",
            hint=f"decide it again; plan decision list {plan.name} shows those that hold",
        )
    if not timeline_of(uow, plan).contains(*decision.place):
        raise RefusedError(
            f"decision {decision.number} of plan {plan.name!r} is superseded",
            hint=f"plan decision list {plan.name} shows those that hold",
        )


def current_decision(uow: UnitOfWork, plan: Plan) -> DecisionId | None:
    """The newest decision that holds: what begins now belongs to it."""
    return uow.decisions.newest_in(plan.plan_id, timeline_of(uow, plan))


def timeline_of(uow: UnitOfWork, plan: Plan) -> Lineage:
    """The plan's current lineage."""
    return lineage_of(plan.current_epoch, uow.epochs.all(plan.plan_id))


def _by_prefix(uow: UnitOfWork, plan: Plan, text: str) -> Decision | None:
    prefix = text.upper()
    if not _SHORTEST_PREFIX <= len(prefix) <= ULID_LENGTH:
        return None
    found = uow.decisions.by_prefix(plan.plan_id, prefix, _SHOWN)
    if len(found) > 1:
        raise AmbiguousError(
            f"{text!r} is the beginning of more than one decision id",
            hint="give more of the id, or the number from plan decision list",
            details={"candidates": [f"{d.number} ({d.decision_id})" for d in found]},
        )
    if found:
        return found[0]
    stranger = uow.decisions.by_id_any_plan(plan.repository_id, prefix)
    if stranger is not None:
        other = uow.plans.get(stranger.plan_id)
        raise RefusedError(
            f"decision {text!r} belongs to plan {other.name!r}, not to {plan.name!r}",
            hint=f"plan decision show {other.name} {stranger.number} shows it",
            details={"plan": other.name},
        )
    return None
