"""Purging a removed plan: its checkpoints and what was set aside go for good.

The marks commit: from then on the checkpoints are gone, and whatever is interrupted is finished.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointState
from backtrail.domain.errors import RefusedError
from backtrail.domain.operation import OperationKind, OperationState
from backtrail.domain.plan import PlanState, Purge
from backtrail.domain.retention import RemoveReason
from backtrail.git.store.set_aside import delete, size_on_disk
from backtrail.services.lifecycle.remove import set_aside_of
from backtrail.services.session.journal import Entry, open_operation

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import PlanId
    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan, RemovalResult
    from backtrail.git.store.store import PrivateStore
    from backtrail.services.session.context import Workspace
    from backtrail.storage.database import UnitOfWork


_CHECKPOINTS, _FILES = "checkpoints", "files"
_GOING = (CheckpointState.COMPLETE, CheckpointState.DAMAGED)


def preview_purge(ws: Workspace, plan: Plan, removal: RemovalResult, *, files_only: bool) -> Purge:
    """What would go for good, with what the removal would set aside first."""
    with ws.database.read() as uow:
        going = [] if files_only else _checkpoints(uow, plan)
        kept = _purge(len(going), _set_aside(uow, plan))
    return replace(kept, freed_bytes=kept.freed_bytes + (removal.set_aside_bytes or 0))


def _purge(checkpoints: int, places: tuple[Path, ...]) -> Purge:
    return Purge(checkpoints, places, sum(map(size_on_disk, places)))


def purge_plan(ws: Workspace, plan_id: PlanId, *, files_only: bool, wait: float) -> Purge:
    """Delete what is kept of a removed plan."""
    with ws.holding(ws.plan(plan_id).sandbox, wait=wait) as store:
        plan = ws.plan(plan_id)
        with ws.database.write() as uow:
            uow.plans.lock(plan_id)
            _refuse_live(plan)
            going = [] if files_only else _checkpoints(uow, plan)
            places = _set_aside(uow, plan)
            operation = open_operation(ws, uow, plan, Entry(OperationKind.PURGE))
            if going:
                gone = {row.checkpoint_id: RemoveReason.ASKED_FOR for row in going}
                uow.pruning.start(gone, operation)
            outcome = {
                _CHECKPOINTS: [row.seq for row in going],
                _FILES: [str(place) for place in places],
            }
            uow.operations.update(operation.operation_id, result=outcome)
        result = _purge(len(going), places)
        ws.failpoints.reach("purge.marked")
        _carry_out(ws, store, plan, operation)
        return result


def _refuse_live(plan: Plan) -> None:
    if plan.state is not PlanState.REMOVED:
        raise RefusedError(f"plan {plan.name!r} was brought back meanwhile", hint="remove it first")


def _checkpoints(uow: UnitOfWork, plan: Plan) -> list[Checkpoint]:
    rows = uow.checkpoints.list(plan.plan_id, include_superseded=True, include_tombstones=True)
    return [row for row in rows if row.state in _GOING]


def _set_aside(uow: UnitOfWork, plan: Plan) -> tuple[Path, ...]:
    """What any removal of the plan put away and is still there."""
    removals = uow.operations.of_kinds(plan.plan_id, (OperationKind.REMOVE,))
    places = [aside for aside in map(set_aside_of, removals) if aside is not None]
    found = dict.fromkeys(p for aside in places for p in (aside.tree, aside.git_dir))
    return tuple(place for place in found if place.is_dir() and not place.is_symlink())


def _carry_out(ws: Workspace, store: PrivateStore, plan: Plan, operation: Operation) -> None:
    sandbox_id = plan.sandbox.sandbox_id
    with ws.database.read() as uow:
        places = _set_aside(uow, plan)
        rows = uow.checkpoints.list(plan.plan_id, include_superseded=True, include_tombstones=True)
    if not any(row.state is CheckpointState.COMPLETE for row in rows):
        store.unpin(sandbox_id, store.refs_of(sandbox_id))
    ws.failpoints.reach("purge.unpinned")
    for place in places:
        delete(place)
    ws.failpoints.reach("purge.deleted")
    with ws.database.write() as uow:
        uow.pruning.finish(plan.plan_id)
        uow.operations.update(
            operation.operation_id, state=OperationState.DONE, finished_at=ws.now()
        )
    ws.failpoints.reach("purge.done")


def finish_purge(ws: Workspace, store: PrivateStore, plan: Plan, operation: Operation) -> None:
    """Finish a purge that was interrupted: what it marked is gone already."""
    _carry_out(ws, store, plan, operation)
    ws.notices.append(f"finished the purge of plan {plan.name} that was interrupted")
