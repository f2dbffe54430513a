"""The tables: one typed row class each, portable between SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Float,
    ForeignKey,
    Index,
    MetaData,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column

from backtrail.domain.checkpoint import CheckpointState, CheckpointType
from backtrail.domain.correction import CorrectionMode
from backtrail.domain.ids import (
    CheckpointId,
    CommitId,
    CorrectionId,
    DecisionId,
    MarkId,
    OperationId,
    PlanId,
    RunId,
    SandboxId,
    StepId,
)
from backtrail.domain.operation import OperationKind, OperationState, Stack
from backtrail.domain.plan import Phase, PlanState, SandboxKind
from backtrail.domain.run import AbortAction, RunStatus
from backtrail.domain.step import MarkKind, Outcome, OutputState
from backtrail.storage.rows.column_types import (
    ExactText,
    FilePath,
    JsonObject,
    JsonStrings,
    SafeText,
    Ulid,
    UtcDateTime,
    Word,
)

COMMIT = String(64)


def now() -> datetime:
    return datetime.now(UTC)


def one_of(column: str, words: type[StrEnum]) -> CheckConstraint:
    values = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({values})", name=column)


class Base(MappedAsDataclass, DeclarativeBase, kw_only=True, eq=False):
    """What all rows share: named constraints, so that a migration can name them too."""

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
        }
    )


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
