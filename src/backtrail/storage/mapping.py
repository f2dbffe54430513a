"""From rows to domain values and back; nothing above storage/ ever sees a row."""

from pathlib import Path
from typing import NamedTuple

from backtrail.domain.checkpoint import Checkpoint
from backtrail.domain.ids import OperationId
from backtrail.domain.lineage import Epoch
from backtrail.domain.operation import Operation
from backtrail.domain.plan import Plan, PlanState, Sandbox
from backtrail.storage.tables import (
    CheckpointRow,
    EpochRow,
    OperationRow,
    PlanRow,
    SandboxRow,
)


class Origin(NamedTuple):
    """Which store and which host a row belongs to."""

    store_id: str
    host_id: str


def plan_of(row: PlanRow, sandbox: SandboxRow) -> Plan:
    return Plan(
        plan_id=row.plan_id,
        repository_id=row.repository_id,
        name=row.name,
        phase=row.phase,
        state=row.state,
        current_epoch=row.current_epoch,
        position=row.position,
        parent_plan_id=row.parent_plan_id,
        base_ref=row.base_ref,
        applied_commit=row.applied_commit,
        created_at=row.created_at,
        sandbox=_sandbox_of(sandbox),
        policy=row.policy_json or {},
    )


def _sandbox_of(row: SandboxRow) -> Sandbox:
    return Sandbox(
        sandbox_id=row.sandbox_id,
        plan_id=row.plan_id,
        kind=row.kind,
        path=Path(row.path),
        git_dir=Path(row.git_dir),
        branch=row.branch,
        base_commit=row.base_commit,
        store_id=row.store_id,
        host_id=row.host_id,
    )


def plan_row(plan: Plan, spawn: tuple[int, int] | None) -> PlanRow:
    spawn_epoch, spawn_position = spawn or (None, None)
    return PlanRow(
        plan_id=plan.plan_id,
        repository_id=plan.repository_id,
        name=plan.name,
        live_name=None if plan.state is PlanState.REMOVED else plan.name,
        phase=plan.phase,
        state=plan.state,
        current_epoch=plan.current_epoch,
        position=plan.position,
        parent_plan_id=plan.parent_plan_id,
        spawn_epoch=spawn_epoch,
        spawn_position=spawn_position,
        base_ref=plan.base_ref,
        applied_commit=plan.applied_commit,
        policy_json=plan.policy or None,
        created_at=plan.created_at,
    )


def sandbox_row(plan: Plan) -> SandboxRow:
    sandbox = plan.sandbox
    return SandboxRow(
        sandbox_id=sandbox.sandbox_id,
        plan_id=plan.plan_id,
        repository_id=plan.repository_id,
        store_id=sandbox.store_id,
        host_id=sandbox.host_id,
        kind=sandbox.kind,
        path=str(sandbox.path),
        git_dir=str(sandbox.git_dir),
        branch=sandbox.branch,
        base_commit=sandbox.base_commit,
        created_at=plan.created_at,
    )


def checkpoint_of(row: CheckpointRow) -> Checkpoint:
    return Checkpoint(
        checkpoint_id=row.checkpoint_id,
        plan_id=row.plan_id,
        seq=row.seq,
        position=row.position,
        epoch=row.epoch,
        checkpoint_type=row.checkpoint_type,
        state=row.state,
        sandbox_ref=row.sandbox_ref,
        resource_id=row.resource_id,
        decision_id=row.decision_id,
        parent_checkpoint_id=row.parent_checkpoint_id,
        superseded_by=row.superseded_by,
        filesystem_path=row.filesystem_path,
        size_bytes=row.size_bytes,
        label=row.label,
        pinned=row.pinned,
        verified_green=row.verified_green,
        last_completed_step=row.last_completed_step,
        created_at=row.created_at,
        metadata=row.metadata_json,
    )


def checkpoint_row(
    value: Checkpoint, origin: Origin, operation_id: OperationId | None
) -> CheckpointRow:
    return CheckpointRow(
        checkpoint_id=value.checkpoint_id,
        plan_id=value.plan_id,
        seq=value.seq,
        position=value.position,
        epoch=value.epoch,
        checkpoint_type=value.checkpoint_type,
        state=value.state,
        sandbox_ref=value.sandbox_ref,
        resource_id=value.resource_id,
        decision_id=value.decision_id,
        parent_checkpoint_id=value.parent_checkpoint_id,
        superseded_by=value.superseded_by,
        operation_id=operation_id,
        store_id=origin.store_id,
        host_id=origin.host_id,
        filesystem_path=value.filesystem_path,
        size_bytes=value.size_bytes,
        label=value.label,
        pinned=value.pinned,
        verified_green=value.verified_green,
        last_completed_step=value.last_completed_step,
        created_at=value.created_at,
        metadata_json=dict(value.metadata),
    )


def operation_of(row: OperationRow) -> Operation:
    return Operation(
        operation_id=row.operation_id,
        plan_id=row.plan_id,
        number=row.number,
        kind=row.kind,
        state=row.state,
        actor=row.actor,
        host=row.host,
        command_line=row.command_line,
        reason=row.reason,
        target_checkpoint_id=row.target_checkpoint_id,
        safety_checkpoint_id=row.safety_checkpoint_id,
        result_checkpoint_id=row.result_checkpoint_id,
        entry_operation_id=row.entry_operation_id,
        stack=row.stack,
        phase_before=row.phase_before,
        state_before=row.state_before,
        phase_after=row.phase_after,
        state_after=row.state_after,
        epoch_before=row.epoch_before,
        epoch_after=row.epoch_after,
        paths=row.paths_json,
        move_branch=row.move_branch,
        started_at=row.started_at,
        finished_at=row.finished_at,
        result=row.result_json,
    )


def operation_row(value: Operation, origin: Origin) -> OperationRow:
    return OperationRow(
        operation_id=value.operation_id,
        plan_id=value.plan_id,
        number=value.number,
        kind=value.kind,
        state=value.state,
        store_id=origin.store_id,
        host_id=origin.host_id,
        actor=value.actor,
        host=value.host,
        command_line=value.command_line,
        reason=value.reason,
        target_checkpoint_id=value.target_checkpoint_id,
        safety_checkpoint_id=value.safety_checkpoint_id,
        result_checkpoint_id=value.result_checkpoint_id,
        entry_operation_id=value.entry_operation_id,
        stack=value.stack,
        phase_before=value.phase_before,
        state_before=value.state_before,
        phase_after=value.phase_after,
        state_after=value.state_after,
        epoch_before=value.epoch_before,
        epoch_after=value.epoch_after,
        paths_json=value.paths,
        move_branch=value.move_branch,
        started_at=value.started_at,
        finished_at=value.finished_at,
        result_json=dict(value.result),
    )


def epoch_of(row: EpochRow) -> Epoch:
    return Epoch(row.plan_id, row.epoch, row.parent_epoch, row.cut_position, row.operation_id)


def epoch_row(value: Epoch) -> EpochRow:
    return EpochRow(
        plan_id=value.plan_id,
        epoch=value.number,
        parent_epoch=value.parent,
        cut_position=value.cut,
        operation_id=value.operation_id,
    )
