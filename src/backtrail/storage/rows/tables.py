"""The tables: one typed row class each, portable between SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, ClassVar

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

_PLAN = "plans.plan_id"
_OPERATION = "operations.operation_id"
_DECISION = "decisions.decision_id"
_CHECKPOINT = "checkpoint_metadata.checkpoint_id"
_IDS = (
    CheckpointId,
    CorrectionId,
    DecisionId,
    MarkId,
    OperationId,
    PlanId,
    RunId,
    SandboxId,
    StepId,
)
_WORDS = (
    AbortAction,
    CheckpointState,
    CheckpointType,
    CorrectionMode,
    MarkKind,
    OperationKind,
    OperationState,
    Outcome,
    OutputState,
    Phase,
    PlanState,
    RunStatus,
    SandboxKind,
    Stack,
)


def now() -> datetime:
    return datetime.now(UTC)


def one_of(column: str, words: type[StrEnum]) -> CheckConstraint:
    values = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({values})", name=column)


class Base(MappedAsDataclass, DeclarativeBase, kw_only=True, eq=False):
    """What all rows share: column types, and named constraints, which a migration can name too.

    Text that people gave, and what has to come back exactly, has a type of its own, said there.
    """

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        str: Text,
        datetime: UtcDateTime,
        CommitId: String(64),
        Mapping[str, Any]: JsonObject,
        tuple[str, ...]: JsonStrings,
        **dict.fromkeys(_IDS, Ulid),
        **{words: Word(words) for words in _WORDS},
    }

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
        }
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

    plan_id: Mapped[PlanId] = mapped_column(primary_key=True)
    repository_id: Mapped[str]
    name: Mapped[str] = mapped_column(SafeText)
    live_name: Mapped[str | None] = mapped_column(SafeText)
    phase: Mapped[Phase]
    state: Mapped[PlanState]
    current_epoch: Mapped[int]
    position: Mapped[int]
    parent_plan_id: Mapped[PlanId | None] = mapped_column(ForeignKey(_PLAN))
    spawn_epoch: Mapped[int | None]
    spawn_position: Mapped[int | None]
    base_ref: Mapped[str | None] = mapped_column(SafeText)
    applied_commit: Mapped[CommitId | None]
    policy_json: Mapped[Mapping[str, Any] | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime] = mapped_column(default_factory=now, onupdate=now)


class SandboxRow(Base):
    """The sandbox of a plan; released when the plan is removed, but never forgotten."""

    __tablename__ = "sandboxes"
    __table_args__ = (
        UniqueConstraint("plan_id"),
        one_of("kind", SandboxKind),
        Index("ix_sandboxes_path", "repository_id", "path"),
    )

    sandbox_id: Mapped[SandboxId] = mapped_column(primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(ForeignKey(_PLAN))
    repository_id: Mapped[str]
    store_id: Mapped[str]
    host_id: Mapped[str]
    kind: Mapped[SandboxKind]
    path: Mapped[str] = mapped_column(FilePath)
    git_dir: Mapped[str] = mapped_column(FilePath)
    branch: Mapped[str | None] = mapped_column(SafeText)
    base_commit: Mapped[CommitId | None]
    created_at: Mapped[datetime]
    released_at: Mapped[datetime | None] = mapped_column(default=None)


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

    operation_id: Mapped[OperationId] = mapped_column(primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(ForeignKey(_PLAN))
    number: Mapped[int]
    kind: Mapped[OperationKind]
    state: Mapped[OperationState]
    store_id: Mapped[str]
    host_id: Mapped[str]
    actor: Mapped[str] = mapped_column(SafeText)
    host: Mapped[str] = mapped_column(SafeText)
    command_line: Mapped[str] = mapped_column(SafeText)
    reason: Mapped[str] = mapped_column(SafeText)
    target_checkpoint_id: Mapped[CheckpointId | None] = mapped_column(
        ForeignKey(_CHECKPOINT, use_alter=True)
    )
    safety_checkpoint_id: Mapped[CheckpointId | None] = mapped_column(
        ForeignKey(_CHECKPOINT, use_alter=True)
    )
    result_checkpoint_id: Mapped[CheckpointId | None] = mapped_column(
        ForeignKey(_CHECKPOINT, use_alter=True)
    )
    entry_operation_id: Mapped[OperationId | None] = mapped_column(ForeignKey(_OPERATION))
    stack: Mapped[Stack | None]
    phase_before: Mapped[Phase]
    state_before: Mapped[PlanState]
    phase_after: Mapped[Phase]
    state_after: Mapped[PlanState]
    epoch_before: Mapped[int]
    epoch_after: Mapped[int | None]
    paths_json: Mapped[tuple[str, ...]]
    move_branch: Mapped[bool]
    started_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    result_json: Mapped[Mapping[str, Any]]


class EpochRow(Base):
    """One stretch of a plan's history, and where it branched off its parent."""

    __tablename__ = "epochs"

    plan_id: Mapped[PlanId] = mapped_column(ForeignKey(_PLAN), primary_key=True)
    epoch: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    parent_epoch: Mapped[int | None]
    cut_position: Mapped[int | None]
    operation_id: Mapped[OperationId | None] = mapped_column(ForeignKey(_OPERATION))


class DecisionRow(Base):
    """A recorded choice; without a position it is not on the timeline yet."""

    __tablename__ = "decisions"
    __table_args__ = (
        Index("ix_decisions_timeline", "plan_id", "position"),
        Index("ix_decisions_newest", "plan_id", "decision_id"),
        Index("ix_decisions_seq", "plan_id", "seq", unique=True),
    )

    decision_id: Mapped[DecisionId] = mapped_column(primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(ForeignKey(_PLAN))
    parent_decision_id: Mapped[DecisionId | None] = mapped_column(ForeignKey(_DECISION))
    position: Mapped[int | None]
    epoch: Mapped[int | None]
    text: Mapped[str] = mapped_column(SafeText)
    rationale: Mapped[str] = mapped_column(SafeText)
    alternatives_json: Mapped[tuple[str, ...]]
    created_at: Mapped[datetime]
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

    checkpoint_id: Mapped[CheckpointId] = mapped_column(primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(ForeignKey(_PLAN))
    seq: Mapped[int]
    position: Mapped[int]
    epoch: Mapped[int]
    checkpoint_type: Mapped[CheckpointType]
    state: Mapped[CheckpointState]
    sandbox_ref: Mapped[CommitId | None]
    resource_id: Mapped[SandboxId] = mapped_column(ForeignKey("sandboxes.sandbox_id"))
    decision_id: Mapped[DecisionId | None] = mapped_column(ForeignKey(_DECISION))
    parent_checkpoint_id: Mapped[CheckpointId | None] = mapped_column(ForeignKey(_CHECKPOINT))
    superseded_by: Mapped[OperationId | None] = mapped_column(ForeignKey(_OPERATION))
    operation_id: Mapped[OperationId | None] = mapped_column(ForeignKey(_OPERATION))
    store_id: Mapped[str]
    host_id: Mapped[str]
    filesystem_path: Mapped[str] = mapped_column(FilePath)
    size_bytes: Mapped[int | None] = mapped_column(BigInteger)
    label: Mapped[str | None] = mapped_column(SafeText)
    pinned: Mapped[bool]
    verified_green: Mapped[bool]
    last_completed_step: Mapped[str | None] = mapped_column(SafeText)
    created_at: Mapped[datetime]
    metadata_json: Mapped[Mapping[str, Any]]


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

    run_id: Mapped[RunId] = mapped_column(primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(ForeignKey(_PLAN))
    live_plan_id: Mapped[PlanId | None] = mapped_column(ForeignKey(_PLAN))
    number: Mapped[int]
    status: Mapped[RunStatus]
    fence: Mapped[int]
    store_id: Mapped[str]
    host_id: Mapped[str]
    actor: Mapped[str] = mapped_column(SafeText)
    host: Mapped[str] = mapped_column(SafeText)
    holder: Mapped[str]
    command: Mapped[str | None]
    lease_until: Mapped[datetime]
    lease_clock: Mapped[float] = mapped_column(Float(53))
    argv_json: Mapped[tuple[str, ...]]
    cwd: Mapped[str] = mapped_column(FilePath)
    options_json: Mapped[Mapping[str, Any]]
    position: Mapped[int | None]
    epoch: Mapped[int | None]
    pre_checkpoint_id: Mapped[CheckpointId | None] = mapped_column(ForeignKey(_CHECKPOINT))
    post_checkpoint_id: Mapped[CheckpointId | None] = mapped_column(ForeignKey(_CHECKPOINT))
    abort_action: Mapped[AbortAction | None]
    exit_code: Mapped[int | None]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    ended_at: Mapped[datetime | None]
    result_json: Mapped[Mapping[str, Any]]
    decision_id: Mapped[DecisionId | None] = mapped_column(ForeignKey(_DECISION))


class StepRow(Base):
    """A step as it was first started; it is live as long as one of its starts is."""

    __tablename__ = "steps"
    __table_args__ = (
        Index("ix_steps_plan", "plan_id", "step_id"),
        Index("ix_steps_decision", "decision_id"),
    )

    step_id: Mapped[StepId] = mapped_column(primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(ForeignKey(_PLAN))
    key: Mapped[str] = mapped_column(ExactText)
    ordinal: Mapped[int]
    digest: Mapped[str] = mapped_column(String(64))
    command_json: Mapped[tuple[str, ...]]
    directory: Mapped[str] = mapped_column(ExactText)
    decision_id: Mapped[DecisionId | None] = mapped_column(ForeignKey(_DECISION))


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

    mark_id: Mapped[MarkId] = mapped_column(primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(ForeignKey(_PLAN))
    step_id: Mapped[StepId] = mapped_column(ForeignKey("steps.step_id"))
    kind: Mapped[MarkKind]
    epoch: Mapped[int]
    position: Mapped[int]
    run_id: Mapped[RunId | None] = mapped_column(ForeignKey("runs.run_id"))
    attempt_id: Mapped[MarkId | None] = mapped_column(ForeignKey("step_marks.mark_id"))
    outcome: Mapped[Outcome | None]
    exit_code: Mapped[int | None]
    value_json: Mapped[Mapping[str, Any] | None]
    output: Mapped[OutputState | None]
    output_bytes: Mapped[int | None] = mapped_column(BigInteger)
    at: Mapped[datetime]


class CorrectionRow(Base):
    """A decision that turned out wrong, and the decision that was put in its place or beside it."""

    __tablename__ = "corrections"
    __table_args__ = (
        one_of("mode", CorrectionMode),
        Index("ix_corrections_plan", "plan_id", "correction_id"),
    )

    correction_id: Mapped[CorrectionId] = mapped_column(primary_key=True)
    plan_id: Mapped[PlanId] = mapped_column(ForeignKey(_PLAN))
    decision_id: Mapped[DecisionId] = mapped_column(ForeignKey(_DECISION))
    corrective_decision_id: Mapped[DecisionId] = mapped_column(ForeignKey(_DECISION))
    mode: Mapped[CorrectionMode]
    guidance: Mapped[str] = mapped_column(SafeText)
    operation_id: Mapped[OperationId] = mapped_column(ForeignKey(_OPERATION))
    checkpoint_id: Mapped[CheckpointId | None] = mapped_column(ForeignKey(_CHECKPOINT))
    created_at: Mapped[datetime]
