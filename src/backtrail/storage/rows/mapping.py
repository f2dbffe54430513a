"""From rows to domain values and back; nothing above storage/ ever sees a row."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from backtrail.domain.checkpoint import Checkpoint
from backtrail.domain.correction import Correction
from backtrail.domain.decision import Decision
from backtrail.domain.ids import OperationId
from backtrail.domain.operation import Operation
from backtrail.domain.plan import Plan, PlanState, Sandbox
from backtrail.domain.run import Lease, Run, RunOptions
from backtrail.domain.timeline import Epoch
from backtrail.storage.rows.tables import (
    CheckpointRow,
    CorrectionRow,
    DecisionRow,
    EpochRow,
    OperationRow,
    PlanRow,
    RunRow,
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


def run_of(row: RunRow) -> Run:
    return Run(
        run_id=row.run_id,
        plan_id=row.plan_id,
        number=row.number,
        status=row.status,
        fence=row.fence,
        host_id=row.host_id,
        host=row.host,
        actor=row.actor,
        holder=row.holder,
        command=row.command,
        lease=Lease(row.lease_until, row.lease_clock),
        argv=row.argv_json,
        cwd=row.cwd,
        options=RunOptions.from_json(row.options_json),
        position=row.position,
        epoch=row.epoch,
        decision_id=row.decision_id,
        pre_checkpoint_id=row.pre_checkpoint_id,
        post_checkpoint_id=row.post_checkpoint_id,
        abort_action=row.abort_action,
        exit_code=row.exit_code,
        created_at=row.created_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        result=row.result_json,
    )


def run_row(value: Run, origin: Origin) -> RunRow:
    return RunRow(
        run_id=value.run_id,
        plan_id=value.plan_id,
        live_plan_id=value.plan_id if value.live else None,
        number=value.number,
        status=value.status,
        fence=value.fence,
        store_id=origin.store_id,
        host_id=value.host_id,
        actor=value.actor,
        host=value.host,
        holder=value.holder,
        command=value.command,
        lease_until=value.lease.until,
        lease_clock=value.lease.clock,
        argv_json=value.argv,
        cwd=value.cwd,
        options_json=value.options.as_json(),
        position=value.position,
        epoch=value.epoch,
        decision_id=value.decision_id,
        pre_checkpoint_id=value.pre_checkpoint_id,
        post_checkpoint_id=value.post_checkpoint_id,
        abort_action=value.abort_action,
        exit_code=value.exit_code,
        created_at=value.created_at,
        started_at=value.started_at,
        ended_at=value.ended_at,
        result_json=dict(value.result),
    )
