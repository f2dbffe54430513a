"""From a decision to the rollback that takes it back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.correction import Aim, Correcting
from backtrail.domain.decision import upwards
from backtrail.domain.errors import RefusedError
from backtrail.domain.ids import DecisionId
from backtrail.domain.operation import OperationKind
from backtrail.domain.rollback import RollbackRequest
from backtrail.services.corrections.corrective import notes_for
from backtrail.services.references import check_live, find_decision
from backtrail.services.rollback.impact import timeline_change
from backtrail.services.rollback.order import rollback_order
from backtrail.services.session.context import new_id

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.decision import Decision
    from backtrail.domain.plan import Plan
    from backtrail.services.rollback.order import Order
    from backtrail.services.session.context import LockedSandbox
    from backtrail.storage.database import UnitOfWork


@dataclass(frozen=True, slots=True)
class RevertRequest:
    """Which decision is taken back, and what is to be done instead."""

    decision: str
    """A reference."""
    guidance: str
    nearest: bool = False
    """Whether an earlier checkpoint will do if the decision's own cannot be restored."""


def aim_of(uow: UnitOfWork, plan: Plan, request: RevertRequest) -> Aim:
    """What a revert goes back to; refuses what cannot be taken back."""
    decision = find_decision(uow, plan, request.decision)
    check_live(uow, plan, decision)
    own = uow.decisions.own_checkpoints(plan.plan_id).get(decision.decision_id)
    if own is not None and own.restorable:
        return Aim(decision, own, nearest=False)
    before = _nearest(uow, plan, decision)
    if request.nearest and before is not None:
        return Aim(decision, before, nearest=True)
    raise _no_way_back(decision, own, before)


def _nearest(uow: UnitOfWork, plan: Plan, decision: Decision) -> Checkpoint | None:
    live = uow.checkpoints.live(plan.plan_id)
    return next((c for c in live if c.position < (decision.position or 0)), None)


def _no_way_back(
    decision: Decision, own: Checkpoint | None, before: Checkpoint | None
) -> RefusedError:
    why = (
        f"no checkpoint was taken before decision {decision.number}"
        if own is None
        else f"checkpoint {own.seq}, taken before decision {decision.number}, is {own.state}"
    )
    if before is None:
        return RefusedError(why, hint="--mode append corrects it without going back")
    return RefusedError(
        why,
        hint=f"--nearest goes back to checkpoint {before.seq}, the nearest one before it",
        details={"nearest": before.checkpoint_id, "nearest_seq": before.seq},
    )


def revert_order(locked: LockedSandbox, request: RevertRequest, *, during_merge: bool) -> Order:
    """The rollback that takes a decision back, and writes the correction when it lands."""
    with locked.workspace.database.read() as uow:
        aim = aim_of(uow, locked.plan, request)
        correcting = Correcting(
            decision_id=aim.decision.decision_id,
            corrective_decision_id=DecisionId(new_id(uow.decisions.newest_id(locked.plan.plan_id))),
            parent_decision_id=_parent_then(uow, locked.plan, aim),
            guidance=request.guidance,
        )
    rollback = RollbackRequest(during_merge=during_merge, reason=request.guidance)
    order = rollback_order(aim.checkpoint, rollback)
    entry = replace(order.entry, kind=OperationKind.REVERT, notes=notes_for(correcting))
    return replace(order, entry=entry)


def _parent_then(uow: UnitOfWork, plan: Plan, aim: Aim) -> DecisionId | None:
    """Where the decision hangs; higher up if the rollback takes that away, too."""
    then = timeline_change(uow, plan, aim.checkpoint).then
    decisions = uow.decisions.list(plan.plan_id)
    parents = {d.decision_id: d.parent_decision_id for d in decisions}
    places = uow.decisions.places(plan.plan_id)
    above = upwards(aim.decision.parent_decision_id, parents)
    return next((d for d in above if then.contains(*places[d])), None)
