"""The table of corrections."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from backtrail.domain.correction import CorrectionMode
from backtrail.domain.ids import CheckpointId, CorrectionId, DecisionId, OperationId, PlanId
from backtrail.storage.column_types import SafeText, Ulid, UtcDateTime, Word
from backtrail.storage.table_base import Base, one_of


class CorrectionRow(Base):
    """A decision that turned out wrong, and the decision that was put in its place or beside it."""

    __tablename__ = "corrections"
    __table_args__ = (
        one_of("mode", CorrectionMode),
        Index("ix_corrections_plan", "plan_id", "correction_id"),
    )

    correction_id: Mapped[CorrectionId] = mapped_column(Ulid, primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(Ulid, ForeignKey("plans.plan_id"))
    decision_id: Mapped[DecisionId] = mapped_column(Ulid, ForeignKey("decisions.decision_id"))
    corrective_decision_id: Mapped[DecisionId] = mapped_column(
        Ulid, ForeignKey("decisions.decision_id")
    )
    mode: Mapped[CorrectionMode] = mapped_column(Word(CorrectionMode))
    guidance: Mapped[str] = mapped_column(SafeText)
    operation_id: Mapped[OperationId] = mapped_column(Ulid, ForeignKey("operations.operation_id"))
    checkpoint_id: Mapped[CheckpointId | None] = mapped_column(
        Ulid, ForeignKey("checkpoint_metadata.checkpoint_id")
    )
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
