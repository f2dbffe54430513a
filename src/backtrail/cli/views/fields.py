"""Domain values as the documented JSON objects; the names here are a promise to scripts."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.decision import StandingDecision
    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback import FileChange, NotRestored, PlanStatus, RollbackResult
    from backtrail.domain.run import Run


def plan_fields(plan: Plan) -> dict[str, Any]:
    sandbox = plan.sandbox
    return {
        "plan_id": plan.plan_id,
        "name": plan.name,
        "phase": plan.phase,
        "state": plan.state,
        "parent_plan_id": plan.parent_plan_id,
        "base_ref": plan.base_ref,
        "applied_commit": plan.applied_commit,
        "created_at": plan.created_at,
        "sandbox": {
            "sandbox_id": sandbox.sandbox_id,
            "kind": sandbox.kind,
            "path": str(sandbox.path),
            "branch": sandbox.branch,
            "base_commit": sandbox.base_commit,
        },
    }


def checkpoint_fields(checkpoint: Checkpoint) -> dict[str, Any]:
    """The columns of `checkpoint_metadata` under their own names."""
    return {
        "checkpoint_id": checkpoint.checkpoint_id,
        "plan_id": checkpoint.plan_id,
        "seq": checkpoint.seq,
        "position": checkpoint.position,
        "epoch": checkpoint.epoch,
        "checkpoint_type": checkpoint.checkpoint_type,
        "state": checkpoint.state,
        "live": checkpoint.live,
        "sandbox_ref": checkpoint.sandbox_ref,
        "resource_id": checkpoint.resource_id,
        "decision_id": checkpoint.decision_id,
        "parent_checkpoint_id": checkpoint.parent_checkpoint_id,
        "superseded_by": checkpoint.superseded_by,
        "filesystem_path": checkpoint.filesystem_path,
        "size_bytes": checkpoint.size_bytes,
        "label": checkpoint.label,
        "pinned": checkpoint.pinned,
        "verified_green": checkpoint.verified_green,
        "last_completed_step": checkpoint.last_completed_step,
        "created_at": checkpoint.created_at,
        "metadata": dict(checkpoint.metadata),
    }


def change_fields(changes: Iterable[FileChange]) -> list[dict[str, Any]]:
    return [
        {"file": c.file, "action": c.action, "added": c.added, "removed": c.removed}
        for c in changes
    ]


def status_fields(status: PlanStatus) -> dict[str, Any]:
    return {
        "plan": plan_fields(status.plan),
        "latest": checkpoint_fields(status.latest) if status.latest else None,
        "changes": change_fields(status.changes),
        "problem": status.problem,
        "hint": status.hint,
        "counts": dict(status.counts),
        "parent": status.parent,
        "forked_from": asdict(status.forked_from) if status.forked_from else None,
        "undoable": status.undoable,
        "redoable": status.redoable,
        "run": run_fields(status.run) if status.run else None,
        "rollback_policy": status.rollback_policy.rules(),
        "current_decision": decision_fields(status.current_decision)
        if status.current_decision
        else None,
        "revertible": [entry.decision.number for entry in status.revertible],
        "tool_calls_since_latest": status.tool_calls_since_latest,
    }


def not_restored_fields(notes: Iterable[NotRestored]) -> list[dict[str, str]]:
    return [{"part": note.part, "reason": note.reason} for note in notes]


def rollback_fields(result: RollbackResult) -> dict[str, Any]:
    safety, restored = result.safety_checkpoint, result.restored_checkpoint
    return {
        "rollback_summary": {
            "plan": result.plan.name,
            "plan_id": result.plan.plan_id,
            "operation": result.kind,
            "operation_id": result.operation_id,
            "checkpoint": result.target.checkpoint_id,
            "checkpoint_seq": result.target.seq,
            "label": result.target.label,
            "files_reverted": len(result.changes),
            "safety_checkpoint": safety.checkpoint_id if safety else None,
            "restored_checkpoint": restored.checkpoint_id if restored else None,
            "verified": result.verified,
            "proven": list(result.proven),
            "not_restored": not_restored_fields(result.not_restored),
            "dry_run": result.dry_run,
            "paths": list(result.paths),
        },
        "changes_reverted": [{"file": c.file, "action": c.action} for c in result.changes],
        "left_alone": [{"file": p.file, "reason": p.reason} for p in result.left_alone],
        "gone_since": [{"file": p.file, "reason": p.reason} for p in result.gone_since],
        "impact": asdict(result.impact),
        "post_rollback_state": asdict(result.after),
    }


def decision_fields(entry: StandingDecision) -> dict[str, Any]:
    decision, checkpoint = entry.decision, entry.checkpoint
    return {
        "decision_id": decision.decision_id,
        "plan_id": decision.plan_id,
        "seq": decision.seq,
        "number": decision.number,
        "parent_decision_id": decision.parent_decision_id,
        "parent": entry.parent.number if entry.parent else None,
        "position": decision.position,
        "epoch": decision.epoch,
        "state": entry.state,
        "current": entry.current,
        "revertible": entry.revertible,
        "text": decision.text,
        "rationale": decision.rationale,
        "alternatives": list(decision.alternatives),
        "checkpoint": checkpoint
        and {
            "checkpoint_id": checkpoint.checkpoint_id,
            "seq": checkpoint.seq,
            "state": checkpoint.state,
        },
        "created_at": decision.created_at,
    }


def operation_fields(operation: Operation) -> dict[str, Any]:
    return {
        "operation_id": operation.operation_id,
        "plan_id": operation.plan_id,
        "number": operation.number,
        "kind": operation.kind,
        "state": operation.state,
        "actor": operation.actor,
        "host": operation.host,
        "command_line": operation.command_line,
        "reason": operation.reason,
        "target_checkpoint_id": operation.target_checkpoint_id,
        "safety_checkpoint_id": operation.safety_checkpoint_id,
        "result_checkpoint_id": operation.result_checkpoint_id,
        "entry_operation_id": operation.entry_operation_id,
        "phase_before": operation.phase_before,
        "state_before": operation.state_before,
        "phase_after": operation.phase_after,
        "state_after": operation.state_after,
        "paths": list(operation.paths),
        "started_at": operation.started_at,
        "finished_at": operation.finished_at,
        "result": dict(operation.result),
    }


def run_fields(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "plan_id": run.plan_id,
        "number": run.number,
        "status": run.status,
        "live": run.live,
        "argv": list(run.argv),
        "cwd": run.cwd,
        "options": run.options.as_json(),
        "decision_id": run.decision_id,
        "pre_checkpoint_id": run.pre_checkpoint_id,
        "post_checkpoint_id": run.post_checkpoint_id,
        "abort_action": run.abort_action,
        "exit_code": run.exit_code,
        "actor": run.actor,
        "host": run.host,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "result": dict(run.result),
    }
