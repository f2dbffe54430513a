"""The decision that a revert leaves behind: kept in the journal, written when the revert lands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backtrail.domain.correction import Correcting, Correction, CorrectionMode
from backtrail.domain.ids import CorrectionId
from backtrail.services.decisions.service import Draft, announced, placed
from backtrail.services.session.context import new_id

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.decision import Decision
    from backtrail.domain.ids import CheckpointId
    from backtrail.domain.operation import Operation
    from backtrail.services.session.context import Workspace
    from backtrail.storage.database import UnitOfWork


_CORRECTION = "correction"


def notes_for(correcting: Correcting) -> dict[str, Any]:
    """What the journal has to hold."""
    return {_CORRECTION: correcting.as_json()}


def correcting_of(operation: Operation) -> Correcting | None:
    stored = operation.result.get(_CORRECTION)
    return Correcting.from_json(stored) if stored else None


class Corrective:
    """The companion of a revert: its result carries the decision that is written when it lands."""

    def row(self, result: Checkpoint, operation: Operation) -> Checkpoint:
        correcting = correcting_of(operation)
        if correcting is None:
            return result
        return replace(result, decision_id=correcting.corrective_decision_id)

    def record(
        self, ws: Workspace, uow: UnitOfWork, operation: Operation, result: CheckpointId
    ) -> None:
        """The new decision, with the result before it."""
        correcting = correcting_of(operation)
        if correcting is None:
            return
        plan = uow.plans.get(operation.plan_id)
        draft = Draft(
            correcting.guidance,
            correcting.parent_decision_id,
            identity=correcting.corrective_decision_id,
        )
        decision = placed(uow, plan, announced(ws, uow, plan, draft))
        uow.checkpoints.set_decision(result, decision.decision_id)
        _add(ws, uow, operation, correcting, CorrectionMode.REVERT)


def add_appended(ws: Workspace, uow: UnitOfWork, operation: Operation, made: Decision) -> None:
    """The correction beside a decision that was added below the one that it corrects."""
    corrected = made.parent_decision_id or made.decision_id
    correcting = Correcting(corrected, made.decision_id, corrected, made.text)
    _add(ws, uow, operation, correcting, CorrectionMode.APPEND)


def _add(
    ws: Workspace,
    uow: UnitOfWork,
    operation: Operation,
    correcting: Correcting,
    mode: CorrectionMode,
) -> None:
    uow.corrections.add(
        Correction(
            correction_id=CorrectionId(new_id(uow.corrections.newest_id(operation.plan_id))),
            plan_id=operation.plan_id,
            decision_id=correcting.decision_id,
            corrective_decision_id=correcting.corrective_decision_id,
            mode=mode,
            guidance=correcting.guidance,
            operation_id=operation.operation_id,
            checkpoint_id=operation.target_checkpoint_id,
            created_at=ws.now(),
        )
    )
