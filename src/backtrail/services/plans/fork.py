"""Forking: a new plan whose sandbox begins in exactly the state of a checkpoint."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import Origin
from backtrail.domain.errors import RefusedError
from backtrail.domain.operation import OperationKind
from backtrail.domain.plan import check_plan_name
from backtrail.git.checkpoint.commit import read_checkpoint
from backtrail.services.plans.create import PlanCreation
from backtrail.services.plans.outline import PlanOutline
from backtrail.services.plans.populate import Source, head_of
from backtrail.services.references import find_checkpoint
from backtrail.services.session.guards import check_restorable, damaged

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import PlanId
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback import CreatedPlan
    from backtrail.git.checkpoint.state import Captured
    from backtrail.services.session.context import Workspace


def whole_content(ws: Workspace, checkpoint: Checkpoint) -> Captured:
    """What a checkpoint holds, if it can be restored and nothing of it is missing."""
    check_restorable(checkpoint)
    commit = checkpoint.sandbox_ref
    if commit is None or not ws.store.connected(commit):
        raise damaged(checkpoint)
    return read_checkpoint(ws.store, commit).captured


def fork_plan(ws: Workspace, plan_id: PlanId, reference: str, name: str) -> CreatedPlan:
    """A new plan that begins where a checkpoint of another one is; that one is not touched."""
    check_plan_name(name)
    with ws.database.read() as uow:
        origin = uow.plans.get(plan_id)
        checkpoint = find_checkpoint(uow, origin, reference)
        existing = uow.plans.by_name(ws.repository_id, name)
    if existing is not None:
        return _resumed(ws, existing, checkpoint)
    contents = whole_content(ws, checkpoint)
    head_of(contents)
    source = Source(
        contents,
        f"forked from checkpoint {checkpoint.seq} of plan {origin.name}",
        Origin(origin.name, origin.plan_id, checkpoint.checkpoint_id, checkpoint.seq),
    )
    return PlanCreation(ws).create(_outline(ws, origin, name, contents), source)


def _outline(ws: Workspace, origin: Plan, name: str, contents: Captured) -> Plan:
    """Begun where the origin was begun, so that an apply brings the whole work along."""
    head = head_of(contents)
    plan = PlanOutline(ws).own_at(name, origin.sandbox.base_commit or head, origin.base_ref)
    return replace(plan, policy=origin.policy)


def _resumed(ws: Workspace, existing: Plan, checkpoint: Checkpoint) -> CreatedPlan:
    """Finish a fork that was interrupted, if this very one was."""
    with ws.database.read() as uow:
        unfinished = uow.operations.unfinished(existing.plan_id)
    for operation in unfinished:
        same = operation.target_checkpoint_id == checkpoint.checkpoint_id
        if operation.kind is OperationKind.CREATE_PLAN and same:
            return PlanCreation(ws).resume(existing)
    raise RefusedError(
        f"plan {existing.name!r} already exists", hint="choose another name for the new plan"
    )
