"""What a correction touches: decisions that leave with it, and what has to be done again."""

from __future__ import annotations

import shlex
from operator import attrgetter
from typing import TYPE_CHECKING

from backtrail.domain.correction import (
    AffectedDecision,
    CorrectionMode,
    PastCorrection,
    Recompute,
    Redo,
    Relation,
)
from backtrail.domain.decision import subtree
from backtrail.domain.plan import PlanState
from backtrail.services.rollback.impact import steps_between

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backtrail.domain.decision import Decision
    from backtrail.domain.ids import DecisionId
    from backtrail.domain.plan import Plan
    from backtrail.domain.timeline import Lineage, TimelineChange
    from backtrail.storage.database import UnitOfWork


_NOT_ANY_MORE = (PlanState.APPLIED, PlanState.REMOVED)


def affected_decisions(
    uow: UnitOfWork, plan: Plan, root: Decision, change: TimelineChange
) -> tuple[AffectedDecision, ...]:
    """The decisions that leave the timeline, in the order in which they were taken."""
    decisions = uow.decisions.list(plan.plan_id)
    below = subtree(root.decision_id, decisions)
    gone = [d for d in decisions if d.place and change.loses(*d.place)]
    return tuple(AffectedDecision(d, _relation(d, root, below)) for d in sorted(gone, key=_place))


def subtree_of(
    uow: UnitOfWork, plan: Plan, root: Decision, timeline: Lineage
) -> tuple[AffectedDecision, ...]:
    """A decision and all that follows from it on the timeline."""
    decisions = uow.decisions.list(plan.plan_id)
    below = subtree(root.decision_id, decisions)
    live = [d for d in decisions if d.place and timeline.contains(*d.place)]
    found = sorted((d for d in live if d.decision_id in below), key=_place)
    return tuple(AffectedDecision(d, _relation(d, root, below)) for d in found)


def _relation(decision: Decision, root: Decision, below: frozenset[DecisionId]) -> Relation:
    if decision.decision_id == root.decision_id:
        return Relation.CORRECTED
    if decision.decision_id in below:
        return Relation.DESCENDANT
    return Relation.LATER if _place(decision) > _place(root) else Relation.EARLIER


def _place(decision: Decision) -> int:
    return decision.position or 0


def to_recompute(
    uow: UnitOfWork, plan: Plan, affected: Sequence[AffectedDecision], change: TimelineChange
) -> tuple[Recompute, ...]:
    """What has to be decided and run again, in its old order; the corrected one is decided."""
    found = [
        *_decisions_again(affected),
        *_runs_again(uow, plan, change),
        *_steps_again(uow, plan, change),
        *_child_plans_again(uow, plan, change),
    ]
    return tuple(sorted(found, key=attrgetter("position")))


def _decisions_again(affected: Sequence[AffectedDecision]) -> Iterator[Recompute]:
    for entry in affected:
        if entry.relation is not Relation.CORRECTED:
            yield Recompute(
                kind=Redo.DECISION,
                identity=entry.decision.decision_id,
                reference=entry.decision.number,
                text=entry.decision.text,
                position=_place(entry.decision),
                relation=entry.relation,
            )


def _runs_again(uow: UnitOfWork, plan: Plan, change: TimelineChange) -> Iterator[Recompute]:
    for run in uow.runs.list(plan.plan_id):
        if change.loses(run.epoch, run.position):
            text = shlex.join(run.argv) or "(Python code)"
            yield Recompute(Redo.RUN, run.run_id, str(run.number), text, run.position or 0)


def _steps_again(uow: UnitOfWork, plan: Plan, change: TimelineChange) -> Iterator[Recompute]:
    leaving = steps_between(uow, plan, change)
    for entry in (*leaving.superseded, *leaving.pending_again):
        step = entry.step
        text = shlex.join(step.command)
        yield Recompute(Redo.STEP, step.step_id, step.name.key, text, entry.place)


def _child_plans_again(uow: UnitOfWork, plan: Plan, change: TimelineChange) -> Iterator[Recompute]:
    for child, epoch, position in uow.plans.children(plan.plan_id):
        if child.state not in _NOT_ANY_MORE and change.loses(epoch, position):
            yield Recompute(Redo.CHILD_PLAN, child.plan_id, child.name, child.name, position or 0)


def past_corrections(uow: UnitOfWork, plan: Plan, root: Decision) -> tuple[PastCorrection, ...]:
    """Corrections of this decision and of those in whose place it stands, oldest first."""
    corrections = uow.corrections.list(plan.plan_id)
    decisions = {d.decision_id: d for d in uow.decisions.list(plan.plan_id)}
    stood_here = {root.decision_id}
    for correction in reversed(corrections):
        here = correction.corrective_decision_id in stood_here
        if here and correction.mode is CorrectionMode.REVERT:
            stood_here.add(correction.decision_id)
    return tuple(
        PastCorrection(c, decisions[c.decision_id], decisions[c.corrective_decision_id])
        for c in corrections
        if c.decision_id in stood_here
    )
