"""DecisionService: recording the choices of a plan and looking at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.decision import Decisions, MadeUnderDecision, check_text
from backtrail.domain.operation import OperationKind
from backtrail.domain.redaction import redacted
from backtrail.services.access import writing
from backtrail.services.deciding import Draft, record, standing
from backtrail.services.decision_references import find_decision, live_decision
from backtrail.services.guards import check_plan_open
from backtrail.services.journal import Entry
from backtrail.services.pruning import keep_within_limits
from backtrail.services.workspace import DEFAULT_WAIT, Workspace

if TYPE_CHECKING:
    from backtrail.domain.decision import DecisionRequest, StandingDecision
    from backtrail.domain.ids import DecisionId, PlanId
    from backtrail.domain.plan import Plan


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
