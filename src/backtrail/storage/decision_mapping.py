"""Decisions and corrections from rows to domain values and back."""

from backtrail.domain.correction import Correction
from backtrail.domain.decision import Decision
from backtrail.storage.correction_tables import CorrectionRow
from backtrail.storage.tables import DecisionRow


def decision_of(row: DecisionRow) -> Decision:
    return Decision(
        decision_id=row.decision_id,
        plan_id=row.plan_id,
        seq=row.seq,
        parent_decision_id=row.parent_decision_id,
        position=row.position,
        epoch=row.epoch,
        text=row.text,
        rationale=row.rationale,
        alternatives=row.alternatives_json,
        created_at=row.created_at,
    )


def decision_row(value: Decision) -> DecisionRow:
    return DecisionRow(
        decision_id=value.decision_id,
        plan_id=value.plan_id,
        seq=value.seq,
        parent_decision_id=value.parent_decision_id,
        position=value.position,
        epoch=value.epoch,
        text=value.text,
        rationale=value.rationale,
        alternatives_json=value.alternatives,
        created_at=value.created_at,
    )


def correction_of(row: CorrectionRow) -> Correction:
    return Correction(
        correction_id=row.correction_id,
        plan_id=row.plan_id,
        decision_id=row.decision_id,
        corrective_decision_id=row.corrective_decision_id,
        mode=row.mode,
        guidance=row.guidance,
        operation_id=row.operation_id,
        checkpoint_id=row.checkpoint_id,
        created_at=row.created_at,
    )


def correction_row(value: Correction) -> CorrectionRow:
    return CorrectionRow(
        correction_id=value.correction_id,
        plan_id=value.plan_id,
        decision_id=value.decision_id,
        corrective_decision_id=value.corrective_decision_id,
        mode=value.mode,
        guidance=value.guidance,
        operation_id=value.operation_id,
        checkpoint_id=value.checkpoint_id,
        created_at=value.created_at,
    )
