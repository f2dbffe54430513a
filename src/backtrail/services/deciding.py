"""Recording a decision: the row announces, a checkpoint is taken, a place makes it hold.

Without a place a decision is not live, so that one whose checkpoint never came about never was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.decision import Decision, DecisionState, StandingDecision
from backtrail.domain.ids import DecisionId
from backtrail.domain.tools import Trigger
from backtrail.services.creation import create_checkpoint
from backtrail.services.decision_references import timeline_of
from backtrail.services.ids import new_id
from backtrail.services.journal import Entry, log_done

if TYPE_CHECKING:
    from collections.abc import Callable

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan
    from backtrail.services.workspace import LockedSandbox, Workspace
    from backtrail.storage.database import UnitOfWork


@dataclass(frozen=True, slots=True)
class Draft:
    """A decision that is yet to be recorded."""

    text: str
    parent: DecisionId | None = None
    rationale: str = ""
    alternatives: tuple[str, ...] = ()
    identity: DecisionId | None = None
    """Its id, if that was promised already."""


def _nothing_else(ws: Workspace, uow: UnitOfWork, operation: Operation, made: Decision) -> None:
    del ws, uow, operation, made


def record(
    locked: LockedSandbox,
    draft: Draft,
    entry: Entry,
    *,
    also: Callable[[Workspace, UnitOfWork, Operation, Decision], None] = _nothing_else,
) -> Decision:
    """Announce, take the checkpoint that belongs to it, and place it."""
    ws = locked.workspace
    with ws.database.write() as uow:
        plan = uow.plans.lock(locked.plan.plan_id)
        decision = announced(ws, uow, plan, draft)
    ws.failpoints.reach("decision.announced")
    checkpoint = _checkpoint_before(locked, decision)
    ws.failpoints.reach("decision.checkpointed")
    with ws.database.write() as uow:
        plan = uow.plans.lock(locked.plan.plan_id)
        decision = placed(uow, plan, decision)
        result = checkpoint.checkpoint_id if checkpoint else None
        outcome = {"decision_id": decision.decision_id}
        also(ws, uow, log_done(ws, uow, plan, entry, result, outcome), decision)
    ws.failpoints.reach("decision.placed")
    return decision


def _checkpoint_before(locked: LockedSandbox, decision: Decision) -> Checkpoint | None:
    """The checkpoint that belongs to it, unless the settings want none."""
    if Trigger.BEFORE_DECISION not in locked.workspace.settings.triggers.enabled:
        return None
    request = CheckpointRequest(
        reason=f"before decision {decision.number}: {decision.text}",
        checkpoint_type=CheckpointType.PRE_DECISION,
        decision_id=decision.decision_id,
    )
    return create_checkpoint(locked, request).checkpoint


def announced(ws: Workspace, uow: UnitOfWork, plan: Plan, draft: Draft) -> Decision:
    """Insert the row, without a place."""
    decision = Decision(
        decision_id=draft.identity or DecisionId(new_id(uow.decisions.newest_id(plan.plan_id))),
        plan_id=plan.plan_id,
        seq=uow.decisions.next_seq(plan.plan_id),
        parent_decision_id=draft.parent,
        position=None,
        epoch=None,
        text=draft.text,
        rationale=draft.rationale,
        alternatives=draft.alternatives,
        created_at=ws.now(),
    )
    uow.decisions.add(decision)
    return decision


def placed(uow: UnitOfWork, plan: Plan, decision: Decision) -> Decision:
    """Give it the next position of the plan's current epoch."""
    position = uow.plans.next_position(plan.plan_id)
    uow.decisions.place(decision.decision_id, epoch=plan.current_epoch, position=position)
    return replace(decision, epoch=plan.current_epoch, position=position)


def standing(uow: UnitOfWork, plan: Plan) -> tuple[StandingDecision, ...]:
    """All decisions of the plan, oldest first, each with how it stands."""
    timeline = timeline_of(uow, plan)
    current = uow.decisions.newest_in(plan.plan_id, timeline)
    own = uow.decisions.own_checkpoints(plan.plan_id)

    def state(decision: Decision) -> DecisionState:
        if decision.place is None:
            return DecisionState.UNFINISHED
        live = timeline.contains(*decision.place)
        return DecisionState.LIVE if live else DecisionState.SUPERSEDED

    def parent_of(decision: Decision) -> Decision | None:
        above = decision.parent_decision_id
        return decisions[above] if above else None

    decisions = {d.decision_id: d for d in uow.decisions.list(plan.plan_id)}
    return tuple(
        StandingDecision(
            decision=decision,
            state=state(decision),
            current=identity == current,
            parent=parent_of(decision),
            checkpoint=own.get(identity),
        )
        for identity, decision in decisions.items()
    )
