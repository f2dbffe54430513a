"""What callers ask for, checked before anything waits for a lock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import PROTOCOL_TYPES, Checkpoint, CheckpointRequest, check_label
from backtrail.domain.errors import RefusedError, UsageError
from backtrail.domain.plan import PlanState
from backtrail.services.references import live_decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrail.domain.ids import PlanId
    from backtrail.domain.plan import Plan
    from backtrail.services.session.context import Workspace
    from backtrail.storage.database import UnitOfWork


def checked_request(
    workspace: Workspace, plan: PlanId | Plan, request: CheckpointRequest
) -> CheckpointRequest:
    """The request, its decision by id; refuses what cannot be recorded as it is described."""
    if request.checkpoint_type in PROTOCOL_TYPES:
        raise UsageError(
            f"checkpoints of type {str(request.checkpoint_type)!r} are made by Backtrail alone",
            hint="use manual or turn",
        )
    row = workspace.known(plan)
    if row.state is PlanState.REMOVED:
        raise RefusedError(f"plan {row.name!r} has been removed")
    if request.label is None and request.decision_id is None:
        return request
    with workspace.database.read() as uow:
        if request.label is not None:
            check_label_free(uow, row, check_label(request.label), None)
        if request.decision_id is None:
            return request
        return replace(request, decision_id=live_decision(uow, row, request.decision_id))


def checked_paths(paths: Sequence[str]) -> tuple[str, ...]:
    for path in paths:
        parts = path.split("/")
        if ".git" in parts:
            raise UsageError(
                f"{path!r} is git's own and never captured",
                hint="a rollback without --path brings back HEAD, branch and index of the sandbox",
            )
        if any(part in ("", ".", "..") for part in parts):
            raise UsageError(
                f"{path!r} is not a path inside the sandbox",
                hint="leave --path out to restore everything",
            )
    return tuple(dict.fromkeys(paths))


def check_label_free(
    uow: UnitOfWork, plan: Plan, label: str, checkpoint: Checkpoint | None
) -> None:
    """Refuse a label that names another checkpoint of the plan."""
    holder = uow.checkpoints.by_label(plan.plan_id, label)
    if holder is None or (checkpoint and holder.checkpoint_id == checkpoint.checkpoint_id):
        return
    raise RefusedError(
        f"label {label!r} already names checkpoint {holder.seq} of plan {plan.name!r}",
        hint=f"take it away first: plan checkpoint label {plan.name} {holder.seq} --clear",
    )
