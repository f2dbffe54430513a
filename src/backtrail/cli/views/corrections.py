"""The report of a correction, and of its dry run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.text import safe
from backtrail.cli.views.fields import decision_fields, rollback_fields
from backtrail.cli.views.rollback import rollback_lines, rollback_panels
from backtrail.domain.correction import CorrectionMode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from backtrail.domain.correction import CorrectionResult, PastCorrection


_SECTIONS = (
    "rollback_summary",
    "changes_reverted",
    "left_alone",
    "gone_since",
    "impact",
    "post_rollback_state",
)


def correction_report(result: CorrectionResult) -> Report:
    corrective, rollback = result.corrective, result.rollback
    own = corrective.checkpoint if corrective else None
    at = rollback.target if rollback and own is None else own
    return Report(
        data=correction_fields(result),
        plain=lambda: _lines(result),
        rich=lambda verbose: _rich(result, verbose=verbose),
        values={
            # Of a dry run, the decision that would be corrected: the new one has no id yet.
            Value.ID: (corrective or result.decision).decision.decision_id,
            Value.COMMIT: at.sandbox_ref if at else None,
            Value.PATH: str(result.plan.sandbox.path),
        },
        messages=result.messages,
        silenced_by_quiet=not result.dry_run,
    )


def correction_fields(result: CorrectionResult) -> dict[str, Any]:
    sections: dict[str, Any] = dict.fromkeys(_SECTIONS)
    return {
        "correction": {
            "plan": result.plan.name,
            "plan_id": result.plan.plan_id,
            "mode": result.mode,
            "guidance": result.guidance,
            "nearest": result.nearest,
            "dry_run": result.dry_run,
            "decision": decision_fields(result.decision),
            "corrective_decision": decision_fields(result.corrective)
            if result.corrective
            else None,
        },
        **(rollback_fields(result.rollback) if result.rollback else sections),
        "affected_subtree": _affected_fields(result),
        "sandbox_rollback": _sandbox_fields(result),
        "recompute": [
            {
                "kind": item.kind,
                "id": item.identity,
                "reference": item.reference,
                "text": item.text,
                "relation": item.relation,
            }
            for item in result.recompute
        ],
        "history": [_past_fields(entry) for entry in result.history],
    }


def _affected_fields(result: CorrectionResult) -> dict[str, Any]:
    impact = result.rollback.impact if result.rollback else None
    return {
        "decision": result.decision.decision.number,
        "decisions": [
            {
                "decision_id": entry.decision.decision_id,
                "number": entry.decision.number,
                "text": entry.decision.text,
                "relation": entry.relation,
            }
            for entry in result.affected
        ],
        "superseded": impact is not None,
        "counts": {
            "decisions": len(result.affected),
            "checkpoints": impact.checkpoints_superseded if impact else 0,
            "tool_calls": impact.tool_calls_after_cp if impact else 0,
            "runs": impact.runs_after_cp if impact else 0,
            "steps": impact.steps_superseded if impact else 0,
            "child_plans": impact.child_plans_invalidated if impact else 0,
        },
    }


def _sandbox_fields(result: CorrectionResult) -> dict[str, Any]:
    rollback = result.rollback
    safety = rollback.safety_checkpoint if rollback else None
    restored = rollback.restored_checkpoint if rollback else None
    return {
        "performed": rollback is not None and not rollback.dry_run,
        "sandbox": str(result.plan.sandbox.path),
        "checkpoint": rollback.target.seq if rollback else None,
        "safety_checkpoint": safety.seq if safety else None,
        "restored_checkpoint": restored.seq if restored else None,
        "files_reverted": len(rollback.changes) if rollback else 0,
        "verified": rollback.verified if rollback else False,
    }


def _past_fields(entry: PastCorrection) -> dict[str, Any]:
    return {
        "correction_id": entry.correction.correction_id,
        "mode": entry.correction.mode,
        "decision": entry.decision.number,
        "corrective_decision": entry.corrective.number,
        "text": entry.decision.text,
        "guidance": entry.correction.guidance,
        "created_at": entry.correction.created_at,
    }


def _lines(result: CorrectionResult) -> Iterator[str]:
    corrective = result.corrective
    yield f"mode: {result.mode}"
    yield f"decision: {result.decision.decision.number}"
    yield f"corrective_decision: {corrective.decision.number if corrective else '-'}"
    yield f"guidance: {safe(result.guidance)}"
    yield f"nearest: {'yes' if result.nearest else 'no'}"
    for entry in result.affected:
        decision = entry.decision
        yield f"affected\t{decision.number}\t{entry.relation}\t{safe(decision.text)}"
    for item in result.recompute:
        yield f"recompute\t{item.kind}\t{safe(item.reference)}\t{safe(item.text)}"
    for past in result.history:
        said = past.correction
        yield (
            f"history\t{past.decision.number}\t{said.mode}\t{past.corrective.number}"
            f"\t{safe(said.guidance)}"
        )
    if result.rollback is not None:
        yield from rollback_lines(result.rollback)
    elif result.dry_run:
        yield "Dry run: nothing was changed."


def _rich(result: CorrectionResult, *, verbose: bool) -> Iterator[RenderableType]:
    from backtrail.cli.views.correction_drawing import correction_panels

    yield from correction_panels(result, verbose=verbose)
    if result.rollback is not None:
        yield from rollback_panels(result.rollback, verbose=verbose)
    elif result.mode is CorrectionMode.APPEND and result.dry_run:
        from backtrail.cli.render.look import text

        yield text("Dry run: nothing was changed.", "bold yellow")
