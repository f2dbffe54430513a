"""The tables of steps and of the marks that are appended to them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backtrail.domain.ids import DecisionId, MarkId, PlanId, RunId, StepId
from backtrail.domain.step import MarkKind, Outcome, OutputState
from backtrail.storage.column_types import (
    ExactText,
    JsonObject,
    JsonStrings,
    Ulid,
    UtcDateTime,
    Word,
)
from backtrail.storage.table_base import Base, one_of

DIGEST = String(64)


class StepRow(Base):
    """A step as it was first started; it is live as long as one of its starts is."""

    __tablename__ = "steps"
    __table_args__ = (
        Index("ix_steps_plan", "plan_id", "step_id"),
        Index("ix_steps_decision", "decision_id"),
    )

    step_id: Mapped[StepId] = mapped_column(Ulid, primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(Ulid, ForeignKey("plans.plan_id"))
    key: Mapped[str] = mapped_column(ExactText)
    ordinal: Mapped[int]
    digest: Mapped[str] = mapped_column(DIGEST)
    command_json: Mapped[tuple[str, ...]] = mapped_column(JsonStrings)
    directory: Mapped[str] = mapped_column(ExactText)
    decision_id: Mapped[DecisionId | None] = mapped_column(
        Ulid, ForeignKey("decisions.decision_id")
    )


class StepMarkRow(Base):
    """Something that happened to a step; only the state of its output ever changes."""

    __tablename__ = "step_marks"
    __table_args__ = (
        UniqueConstraint("plan_id", "position"),
        one_of("kind", MarkKind),
        one_of("outcome", Outcome),
        one_of("output", OutputState),
        Index("ix_step_marks_output", "plan_id", "output", "output_bytes"),
    )

    mark_id: Mapped[MarkId] = mapped_column(Ulid, primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(Ulid, ForeignKey("plans.plan_id"))
    step_id: Mapped[StepId] = mapped_column(Ulid, ForeignKey("steps.step_id"))
    kind: Mapped[MarkKind] = mapped_column(Word(MarkKind))
    epoch: Mapped[int]
    position: Mapped[int]
    run_id: Mapped[RunId | None] = mapped_column(Ulid, ForeignKey("runs.run_id"))
    attempt_id: Mapped[MarkId | None] = mapped_column(Ulid, ForeignKey("step_marks.mark_id"))
    outcome: Mapped[Outcome | None] = mapped_column(Word(Outcome))
    exit_code: Mapped[int | None]
    value_json: Mapped[Mapping[str, Any] | None] = mapped_column(JsonObject)
    output: Mapped[OutputState | None] = mapped_column(Word(OutputState))
    output_bytes: Mapped[int | None] = mapped_column(BigInteger)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
