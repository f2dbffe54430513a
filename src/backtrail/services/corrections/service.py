"""CorrectionService: what to do about a decision that turned out wrong."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backtrail.domain.correction import CorrectionMode, CorrectionResult
from backtrail.domain.decision import check_text
from backtrail.domain.operation import OperationKind
from backtrail.domain.timeline import TimelineChange, lineage_of
from backtrail.services.corrections.consequences import (
    affected_decisions,
    past_corrections,
    subtree_of,
    to_recompute,
)
from backtrail.services.corrections.corrective import add_appended, correcting_of
from backtrail.services.corrections.revert import RevertRequest, aim_of, revert_order
from backtrail.services.decisions.service import Draft, record, standing
from backtrail.services.references import check_live, find_decision, timeline_of
from backtrail.services.retention.prune import keep_within_limits
from backtrail.services.rollback.impact import timeline_change
from backtrail.services.rollback.order import Execution
from backtrail.services.session.context import DEFAULT_WAIT, Workspace
from backtrail.services.session.enter import writing
from backtrail.services.session.guards import check_plan_open
from backtrail.services.session.journal import Entry

if TYPE_CHECKING:
    from backtrail.domain.correction import Aim
    from backtrail.domain.decision import Decision, StandingDecision
    from backtrail.domain.ids import DecisionId, PlanId
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback import RollbackResult
    from backtrail.services.checkpoints.service import CheckpointService
    from backtrail.storage.database import UnitOfWork


_GUIDANCE = "the guidance"


class CorrectionService:
    """Corrections of the decisions of one repository's plans."""

    def __init__(self, checkpoint_service: CheckpointService, workspace: Workspace) -> None:
        self._checkpoints = checkpoint_service
        self._workspace = workspace

    def revert(
        self,
        plan: PlanId,
        decision: str,
        guidance: str,
        *,
        nearest: bool = False,
        during_merge: bool = False,
        abort_run: bool = False,
        wait: float = DEFAULT_WAIT,
    ) -> CorrectionResult:
        """Go back to just before a decision and put the guidance in its place.

        The decision, what follows from it and all that came after its checkpoint leave the
        timeline; `CheckpointService.undo` brings everything back.
        """
        request = RevertRequest(decision, check_text(guidance, _GUIDANCE), nearest)
        aim = self._aim(plan, request)
        order = partial(revert_order, request=request, during_merge=during_merge)
        how = Execution(abort_run=abort_run, wait=wait)
        rollback = self._checkpoints.execute(plan, order, how)
        return self._reverted(request, aim, rollback)

    def append(
        self, plan: PlanId, decision: str, guidance: str, *, wait: float = DEFAULT_WAIT
    ) -> CorrectionResult:
        """Add the guidance below a decision that stays as it is; no file is changed."""
        text = check_text(guidance, _GUIDANCE)
        self._appendable(plan, decision)
        with writing(self._workspace, plan, wait=wait) as locked:
            corrected = self._appendable(plan, decision)
            made = record(
                locked,
                Draft(text=text, parent=corrected.decision_id),
                Entry(OperationKind.APPEND, reason=text),
                also=add_appended,
            )
            keep_within_limits(locked)
        return self._appended(plan, corrected, text, made.decision_id)

    def preview(
        self,
        plan: PlanId,
        decision: str,
        guidance: str,
        *,
        mode: CorrectionMode,
        nearest: bool = False,
        during_merge: bool = False,
        abort_run: bool = False,
        wait: float = DEFAULT_WAIT,
    ) -> CorrectionResult:
        """Exactly what `revert` or `append` would do; nothing of it is done."""
        text = check_text(guidance, _GUIDANCE)
        if mode is CorrectionMode.APPEND:
            return self._appended(plan, self._appendable(plan, decision), text, None)
        request = RevertRequest(decision, text, nearest)
        aim = self._aim(plan, request)
        order = partial(revert_order, request=request, during_merge=during_merge)
        how = Execution(dry_run=True, abort_run=abort_run, wait=wait)
        rollback = self._checkpoints.execute(plan, order, how)
        return self._reverted(request, aim, rollback)

    def _aim(self, plan: PlanId, request: RevertRequest) -> Aim:
        with self._workspace.database.read() as uow:
            row = uow.plans.get(plan)
            check_plan_open(row, "no decision can be taken back")
            return aim_of(uow, row, request)

    def _appendable(self, plan: PlanId, reference: str) -> Decision:
        with self._workspace.database.read() as uow:
            row = uow.plans.get(plan)
            check_plan_open(row, "nothing more can be decided in it")
            decision = find_decision(uow, row, reference)
            check_live(uow, row, decision)
            return decision

    def _reverted(
        self, request: RevertRequest, aim: Aim, rollback: RollbackResult
    ) -> CorrectionResult:
        root = aim.decision
        with self._workspace.database.read() as uow:
            plan = uow.plans.get(rollback.plan.plan_id)
            change, corrective = _change(uow, plan, rollback)
            affected = affected_decisions(uow, plan, root, change)
            return CorrectionResult(
                plan=plan,
                mode=CorrectionMode.REVERT,
                guidance=request.guidance,
                dry_run=rollback.dry_run,
                nearest=rollback.target.decision_id != root.decision_id,
                decision=_standing(uow, plan, root.decision_id),
                corrective=_standing(uow, plan, corrective) if corrective else None,
                rollback=rollback,
                affected=affected,
                recompute=to_recompute(uow, plan, affected, change),
                history=past_corrections(uow, plan, root),
                messages=rollback.messages,
            )

    def _appended(
        self, plan: PlanId, root: Decision, guidance: str, made: DecisionId | None
    ) -> CorrectionResult:
        with self._workspace.database.read() as uow:
            row = uow.plans.get(plan)
            found = subtree_of(uow, row, root, timeline_of(uow, row))
            return CorrectionResult(
                plan=row,
                mode=CorrectionMode.APPEND,
                guidance=guidance,
                dry_run=made is None,
                nearest=False,
                decision=_standing(uow, row, root.decision_id),
                corrective=_standing(uow, row, made) if made else None,
                rollback=None,
                affected=tuple(a for a in found if a.decision.decision_id != made),
                recompute=(),
                history=past_corrections(uow, row, root),
            )


def _change(
    uow: UnitOfWork, plan: Plan, rollback: RollbackResult
) -> tuple[TimelineChange, DecisionId | None]:
    """The timeline before and after, from what was journaled or would be."""
    operation = uow.operations.get(rollback.operation_id) if rollback.operation_id else None
    if operation is None or operation.epoch_after is None:
        return timeline_change(uow, plan, rollback.target), None
    epochs = uow.epochs.all(plan.plan_id)
    before, after = (lineage_of(n, epochs) for n in (operation.epoch_before, operation.epoch_after))
    correcting = correcting_of(operation)
    return TimelineChange(before, after), correcting.corrective_decision_id if correcting else None


def _standing(uow: UnitOfWork, plan: Plan, decision: DecisionId) -> StandingDecision:
    return next(e for e in standing(uow, plan) if e.decision.decision_id == decision)
