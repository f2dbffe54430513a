"""DecisionService: recording the choices of a plan and looking at them.

Without a place a decision is not live, so that one whose checkpoint never came about never was.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.decision import (
    Decision,
    Decisions,
    DecisionState,
    MadeUnderDecision,
    StandingDecision,
    check_text,
)
from backtrail.domain.ids import DecisionId
from backtrail.domain.operation import OperationKind
from backtrail.domain.redaction import redacted
from backtrail.domain.tools import Trigger
from backtrail.services.references import find_decision, live_decision, timeline_of
from backtrail.services.retention.prune import keep_within_limits
from backtrail.services.session.context import DEFAULT_WAIT, Workspace, new_id
from backtrail.services.session.enter import writing
from backtrail.services.session.guards import check_plan_open
from backtrail.services.session.journal import Entry, log_done
from backtrail.services.snapshot.create import create_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.decision import DecisionRequest
    from backtrail.domain.ids import PlanId
    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan
    from backtrail.services.session.context import LockedSandbox
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


class DecisionService:
    """Decisions of the plans of one repository."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def add(
        self, plan: PlanId, request: DecisionRequest, *, wait: float = DEFAULT_WAIT
    ) -> StandingDecision:
        """Take a checkpoint of the sandbox as it is and record a choice; it is current then."""
        text = check_text(request.text, "the decision")
        # What is wrong is told before anything waits for a lock.
        self._parent(self._workspace.plan(plan), request)
        with writing(self._workspace, plan, wait=wait) as locked:
            draft = Draft(
                text=text,
                parent=self._parent(locked.plan, request),
                rationale=redacted(request.rationale.strip()),
                alternatives=tuple(redacted(a.strip()) for a in request.alternatives if a.strip()),
            )
            decision = record(locked, draft, Entry(OperationKind.DECISION, reason=text))
            keep_within_limits(locked)
        return self.get(plan, decision.decision_id)

    def list(self, plan: PlanId, *, include_all: bool = False) -> Decisions:
        """Live decisions, oldest first; all of them with `include_all`."""
        with self._workspace.database.read() as uow:
            row = uow.plans.get(plan)
            entries = standing(uow, row)
        shown = tuple(entry for entry in entries if include_all or entry.live)
        return Decisions(row, shown, left_out=len(entries) - len(shown))

    def get(self, plan: PlanId, reference: str) -> StandingDecision:
        """The decision that a reference names."""
        with self._workspace.database.read() as uow:
            row = uow.plans.get(plan)
            found = find_decision(uow, row, reference)
            entries = standing(uow, row)
        return next(e for e in entries if e.decision.decision_id == found.decision_id)

    def made_under(self, entry: StandingDecision) -> MadeUnderDecision:
        """What was made while a decision was current, whether it is on the timeline or not."""
        identity, own = entry.decision.decision_id, entry.checkpoint
        with self._workspace.database.read() as uow:
            return MadeUnderDecision(
                checkpoints=tuple(
                    checkpoint.seq
                    for checkpoint in uow.checkpoints.carrying(identity)
                    if own is None or checkpoint.checkpoint_id != own.checkpoint_id
                ),
                runs=tuple(run.number for run in uow.runs.carrying(identity)),
                steps=tuple(step.name.key for step in uow.steps.carrying(identity)),
            )

    def _parent(self, plan: Plan, request: DecisionRequest) -> DecisionId | None:
        check_plan_open(plan, "nothing more can be decided in it")
        if request.parent is None:
            return None
        with self._workspace.database.read() as uow:
            return live_decision(uow, plan, request.parent)
