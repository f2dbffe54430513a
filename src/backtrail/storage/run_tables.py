"""The table of runs."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Float, ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from backtrail.domain.ids import CheckpointId, DecisionId, PlanId, RunId
from backtrail.domain.run import AbortAction, RunStatus
from backtrail.storage.column_types import (
    FilePath,
    JsonObject,
    JsonStrings,
    SafeText,
    Ulid,
    UtcDateTime,
    Word,
)
from backtrail.storage.table_base import Base, one_of


class RunRow(Base):
    """A command, or a block of Python code, under the protection of a checkpoint.

    `live_plan_id` is its plan until it has ended, then NULL. NULLs are never equal, so the unique
    constraint lets one run of a plan be live at a time, whoever tries.
    """

    __tablename__ = "runs"
    __table_args__ = (
        UniqueConstraint("plan_id", "number"),
        UniqueConstraint("live_plan_id"),
        one_of("status", RunStatus),
        one_of("abort_action", AbortAction),
        Index("ix_runs_timeline", "plan_id", "position"),
        Index("ix_runs_decision", "decision_id"),
    )

    run_id: Mapped[RunId] = mapped_column(Ulid, primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(Ulid, ForeignKey("plans.plan_id"))
    live_plan_id: Mapped[PlanId | None] = mapped_column(Ulid, ForeignKey("plans.plan_id"))
    number: Mapped[int]
    status: Mapped[RunStatus] = mapped_column(Word(RunStatus))
    fence: Mapped[int]
    store_id: Mapped[str] = mapped_column(Text)
    host_id: Mapped[str] = mapped_column(Text)
    actor: Mapped[str] = mapped_column(SafeText)
    host: Mapped[str] = mapped_column(SafeText)
    holder: Mapped[str] = mapped_column(Text)
    command: Mapped[str | None] = mapped_column(Text)
    lease_until: Mapped[datetime] = mapped_column(UtcDateTime)
    lease_clock: Mapped[float] = mapped_column(Float(53))
    argv_json: Mapped[tuple[str, ...]] = mapped_column(JsonStrings)
    cwd: Mapped[str] = mapped_column(FilePath)
    options_json: Mapped[Mapping[str, Any]] = mapped_column(JsonObject)
    position: Mapped[int | None]
    epoch: Mapped[int | None]
    pre_checkpoint_id: Mapped[CheckpointId | None] = mapped_column(
        Ulid, ForeignKey("checkpoint_metadata.checkpoint_id")
    )
    post_checkpoint_id: Mapped[CheckpointId | None] = mapped_column(
        Ulid, ForeignKey("checkpoint_metadata.checkpoint_id")
    )
    abort_action: Mapped[AbortAction | None] = mapped_column(Word(AbortAction))
    exit_code: Mapped[int | None]
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    started_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    result_json: Mapped[Mapping[str, Any]] = mapped_column(JsonObject)
    decision_id: Mapped[DecisionId | None] = mapped_column(
        Ulid, ForeignKey("decisions.decision_id")
    )
