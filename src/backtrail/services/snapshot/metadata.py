"""What is written down about a checkpoint besides its columns, in the row and in the commit."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from backtrail.domain.checkpoint import Checkpoint, CheckpointRequest, NotCaptured
    from backtrail.domain.plan import Plan, Sandbox
    from backtrail.domain.timeline import Lineage
    from backtrail.git.checkpoint.state import Captured
    from backtrail.services.session.context import Actor


FACTS_FORMAT = 1


def first_metadata(request: CheckpointRequest, plan: Plan, actor: Actor) -> dict[str, Any]:
    """What is known before anything is captured."""
    return {
        "reason": request.reason,
        "source_tool": request.source_tool,
        "phase": request.phase or str(plan.phase),
        "actor": actor.name,
        "host": actor.host,
        "meta": dict(request.meta),
        **({"forked_from": asdict(request.forked_from)} if request.forked_from else {}),
    }


def metadata_with_capture(metadata: Mapping[str, Any], captured: Captured) -> dict[str, Any]:
    """The same, with what the capture found."""
    state = captured.state.git_state
    return {
        **metadata,
        "tree": captured.tree,
        "state_commit": captured.state_commit,
        "head": {"ref": state.head_ref, "commit": state.head_commit},
        "kept_commits": list(state.commits),
        "not_captured": [asdict(entry) for entry in captured.state.not_captured],
    }


def checkpoint_facts(
    row: Checkpoint, plan: Plan, sandbox: Sandbox, lineage: Lineage
) -> dict[str, Any]:
    """Every immutable column and the lineage: enough to rebuild the rows from the refs alone."""
    return {
        "format": FACTS_FORMAT,
        "checkpoint_id": row.checkpoint_id,
        "plan_id": row.plan_id,
        "seq": row.seq,
        "position": row.position,
        "epoch": row.epoch,
        "lineage": lineage.as_pairs(),
        "checkpoint_type": str(row.checkpoint_type),
        "resource_id": row.resource_id,
        "decision_id": row.decision_id,
        "parent_checkpoint_id": row.parent_checkpoint_id,
        "filesystem_path": row.filesystem_path,
        "label": row.label,
        "last_completed_step": row.last_completed_step,
        "created_at": row.created_at.isoformat(),
        "metadata": dict(row.metadata),
        "plan": {"name": plan.name, "base_ref": plan.base_ref},
        "sandbox": {
            "kind": str(sandbox.kind),
            "path": str(sandbox.path),
            "branch": sandbox.branch,
            "base_commit": sandbox.base_commit,
        },
    }


def newly_missing(found: Iterable[NotCaptured], previous: Checkpoint | None) -> Iterator[str]:
    """A sentence for what this checkpoint does not hold and the one before did not speak of."""
    known = previous.not_captured_paths if previous else frozenset[str]()
    fresh = [note for note in found if note.path not in known]
    if fresh:
        more = f" and {len(fresh) - 1} more" if len(fresh) > 1 else ""
        yield f"not captured: {fresh[0].path} ({fresh[0].reason}){more}"
