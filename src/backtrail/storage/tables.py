"""The tables: one typed row class each, portable between SQLite and PostgreSQL."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    ForeignKey,
    Index,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from backtrail.domain.checkpoint import CheckpointState, CheckpointType
from backtrail.domain.ids import CheckpointId, CommitId, DecisionId, OperationId, PlanId, SandboxId
from backtrail.domain.operation import OperationKind, OperationState, Stack
from backtrail.domain.plan import Phase, PlanState, SandboxKind
from backtrail.storage.column_types import (
    FilePath,
    JsonObject,
    JsonStrings,
    SafeText,
    Ulid,
    UtcDateTime,
    Word,
)
from backtrail.storage.correction_tables import CorrectionRow
from backtrail.storage.run_tables import RunRow
from backtrail.storage.step_tables import StepMarkRow, StepRow
from backtrail.storage.table_base import COMMIT, Base, now, one_of

__all__ = (
    "Base",
    "CheckpointRow",
    "CorrectionRow",
    "DecisionRow",
    "EpochRow",
    "OperationRow",
    "PlanRow",
    "RunRow",
    "SandboxRow",
    "StepMarkRow",
    "StepRow",
)


class PlanRow(Base):
    """A plan; `live_name` is its name until it is removed, then NULL.

    NULLs are never equal, so the unique constraint holds among the plans not removed alone.
    """

    __tablename__ = "plans"
    __table_args__ = (
        UniqueConstraint("repository_id", "live_name"),
        one_of("phase", Phase),
        one_of("state", PlanState),
        Index("ix_plans_listing", "repository_id", "created_at", "plan_id"),
        Index("ix_plans_parent", "parent_plan_id"),
    )

    plan_id: Mapped[PlanId] = mapped_column(Ulid, primary_key=True)
    repository_id: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(SafeText)
    live_name: Mapped[str | None] = mapped_column(SafeText)
    phase: Mapped[Phase] = mapped_column(Word(Phase))
    state: Mapped[PlanState] = mapped_column(Word(PlanState))
    current_epoch: Mapped[int]
    position: Mapped[int]
    parent_plan_id: Mapped[PlanId | None] = mapped_column(Ulid, ForeignKey("plans.plan_id"))
    spawn_epoch: Mapped[int | None]
    spawn_position: Mapped[int | None]
    base_ref: Mapped[str | None] = mapped_column(SafeText)
    applied_commit: Mapped[CommitId | None] = mapped_column(COMMIT)
    policy_json: Mapped[Mapping[str, Any] | None] = mapped_column(JsonObject)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime, default_factory=now, onupdate=now)


class SandboxRow(Base):
    """The sandbox of a plan; released when the plan is removed, but never forgotten."""

    __tablename__ = "sandboxes"
    __table_args__ = (
        UniqueConstraint("plan_id"),
        one_of("kind", SandboxKind),
        Index("ix_sandboxes_path", "repository_id", "path"),
    )

    sandbox_id: Mapped[SandboxId] = mapped_column(Ulid, primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(Ulid, ForeignKey("plans.plan_id"))
    repository_id: Mapped[str] = mapped_column(Text)
    store_id: Mapped[str] = mapped_column(Text)
    host_id: Mapped[str] = mapped_column(Text)
    kind: Mapped[SandboxKind] = mapped_column(Word(SandboxKind))
    path: Mapped[str] = mapped_column(FilePath)
    git_dir: Mapped[str] = mapped_column(FilePath)
    branch: Mapped[str | None] = mapped_column(SafeText)
    base_commit: Mapped[CommitId | None] = mapped_column(COMMIT)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    released_at: Mapped[datetime | None] = mapped_column(UtcDateTime, default=None)


class OperationRow(Base):
    """An entry of the log.

    `kind` has no check constraint: every new command adds one, and SQLite would have to copy the
    table each time. Checkpoints and operations name each other, so the keys to checkpoints are
    added once both tables exist, where the database can add them.
    """

    __tablename__ = "operations"
    __table_args__ = (
        UniqueConstraint("plan_id", "number"),
        one_of("state", OperationState),
        one_of("stack", Stack),
        Index("ix_operations_state", "plan_id", "state"),
        Index("ix_operations_stack", "plan_id", "stack"),
        Index("ix_operations_newest", "plan_id", "operation_id"),
    )

    operation_id: Mapped[OperationId] = mapped_column(Ulid, primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(Ulid, ForeignKey("plans.plan_id"))
    number: Mapped[int]
    kind: Mapped[OperationKind] = mapped_column(Word(OperationKind))
    state: Mapped[OperationState] = mapped_column(Word(OperationState))
    store_id: Mapped[str] = mapped_column(Text)
    host_id: Mapped[str] = mapped_column(Text)
    actor: Mapped[str] = mapped_column(SafeText)
    host: Mapped[str] = mapped_column(SafeText)
    command_line: Mapped[str] = mapped_column(SafeText)
    reason: Mapped[str] = mapped_column(SafeText)
    target_checkpoint_id: Mapped[CheckpointId | None] = mapped_column(
        Ulid, ForeignKey("checkpoint_metadata.checkpoint_id", use_alter=True)
    )
    safety_checkpoint_id: Mapped[CheckpointId | None] = mapped_column(
        Ulid, ForeignKey("checkpoint_metadata.checkpoint_id", use_alter=True)
    )
    result_checkpoint_id: Mapped[CheckpointId | None] = mapped_column(
        Ulid, ForeignKey("checkpoint_metadata.checkpoint_id", use_alter=True)
    )
    entry_operation_id: Mapped[OperationId | None] = mapped_column(
        Ulid, ForeignKey("operations.operation_id")
    )
    stack: Mapped[Stack | None] = mapped_column(Word(Stack))
    phase_before: Mapped[Phase] = mapped_column(Word(Phase))
    state_before: Mapped[PlanState] = mapped_column(Word(PlanState))
    phase_after: Mapped[Phase] = mapped_column(Word(Phase))
    state_after: Mapped[PlanState] = mapped_column(Word(PlanState))
    epoch_before: Mapped[int]
    epoch_after: Mapped[int | None]
    paths_json: Mapped[tuple[str, ...]] = mapped_column(JsonStrings)
    move_branch: Mapped[bool]
    started_at: Mapped[datetime] = mapped_column(UtcDateTime)
    finished_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    result_json: Mapped[Mapping[str, Any]] = mapped_column(JsonObject)


class EpochRow(Base):
    """One stretch of a plan's history, and where it branched off its parent."""

    __tablename__ = "epochs"

    plan_id: Mapped[PlanId] = mapped_column(Ulid, ForeignKey("plans.plan_id"), primary_key=True)
    epoch: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    parent_epoch: Mapped[int | None]
    cut_position: Mapped[int | None]
    operation_id: Mapped[OperationId | None] = mapped_column(
        Ulid, ForeignKey("operations.operation_id")
    )


class DecisionRow(Base):
    """A recorded choice; without a position it is not on the timeline yet."""

    __tablename__ = "decisions"
    __table_args__ = (
        Index("ix_decisions_timeline", "plan_id", "position"),
        Index("ix_decisions_newest", "plan_id", "decision_id"),
        Index("ix_decisions_seq", "plan_id", "seq", unique=True),
    )

    decision_id: Mapped[DecisionId] = mapped_column(Ulid, primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(Ulid, ForeignKey("plans.plan_id"))
    parent_decision_id: Mapped[DecisionId | None] = mapped_column(
        Ulid, ForeignKey("decisions.decision_id")
    )
    position: Mapped[int | None]
    epoch: Mapped[int | None]
    text: Mapped[str] = mapped_column(SafeText)
    rationale: Mapped[str] = mapped_column(SafeText)
    alternatives_json: Mapped[tuple[str, ...]] = mapped_column(JsonStrings)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # SQLite cannot add a column to a table without saying what it holds in the rows there are.
    seq: Mapped[int] = mapped_column(server_default="0")


class CheckpointRow(Base):
    """A checkpoint; every index starts with the plan, so that other plans' rows cost nothing."""

    __tablename__ = "checkpoint_metadata"
    __table_args__ = (
        UniqueConstraint("plan_id", "seq"),
        UniqueConstraint("plan_id", "position"),
        UniqueConstraint("plan_id", "label"),
        one_of("checkpoint_type", CheckpointType),
        one_of("state", CheckpointState),
        Index("ix_checkpoint_metadata_newest", "plan_id", "checkpoint_id"),
        Index("ix_checkpoint_metadata_decision", "decision_id"),
        Index("ix_checkpoint_metadata_timeline", "plan_id", "state", "superseded_by", "position"),
    )

    checkpoint_id: Mapped[CheckpointId] = mapped_column(Ulid, primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(Ulid, ForeignKey("plans.plan_id"))
    seq: Mapped[int]
    position: Mapped[int]
    epoch: Mapped[int]
    checkpoint_type: Mapped[CheckpointType] = mapped_column(Word(CheckpointType))
    state: Mapped[CheckpointState] = mapped_column(Word(CheckpointState))
    sandbox_ref: Mapped[CommitId | None] = mapped_column(COMMIT)
    resource_id: Mapped[SandboxId] = mapped_column(Ulid, ForeignKey("sandboxes.sandbox_id"))
    decision_id: Mapped[DecisionId | None] = mapped_column(
        Ulid, ForeignKey("decisions.decision_id")
    )
    parent_checkpoint_id: Mapped[CheckpointId | None] = mapped_column(
        Ulid, ForeignKey("checkpoint_metadata.checkpoint_id")
    )
    superseded_by: Mapped[OperationId | None] = mapped_column(
        Ulid, ForeignKey("operations.operation_id")
    )
    operation_id: Mapped[OperationId | None] = mapped_column(
        Ulid, ForeignKey("operations.operation_id")
    )
    store_id: Mapped[str] = mapped_column(Text)
    host_id: Mapped[str] = mapped_column(Text)
    filesystem_path: Mapped[str] = mapped_column(FilePath)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    label: Mapped[str | None] = mapped_column(SafeText)
    pinned: Mapped[bool]
    verified_green: Mapped[bool]
    last_completed_step: Mapped[str | None] = mapped_column(SafeText)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    metadata_json: Mapped[Mapping[str, Any]] = mapped_column(JsonObject)
