"""Finishing what makes or unmakes a sandbox, before anything needs the sandbox to be there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.operation import OperationKind
from backtrail.services.plan_creation import finish_creation
from backtrail.services.purging import finish_purge
from backtrail.services.recovery import finished_elsewhere
from backtrail.services.removal import finish_removal
from backtrail.services.restoration import finish_restoration

if TYPE_CHECKING:
    from backtrail.domain.ids import PlanId
    from backtrail.services.workspace import Workspace

_FINISH = {
    OperationKind.REMOVE: finish_removal,
    OperationKind.PURGE: finish_purge,
    OperationKind.RESTORE: finish_restoration,
}


def finish_interrupted(workspace: Workspace, plan_id: PlanId, *, wait: float) -> None:
    """Finish, or take back, a creation, removal, purge or restore that was interrupted."""
    finish_creation(workspace, plan_id, wait=wait)
    plan = workspace.plan(plan_id)
    with workspace.database.read() as uow:
        waiting = list(filter(finished_elsewhere, uow.operations.unfinished(plan_id)))
    if not waiting:
        return
    with workspace.holding(plan.sandbox, wait=wait) as store:
        with workspace.database.read() as uow:
            # Another process may have finished it while this one waited for the lock.
            waiting = list(filter(finished_elsewhere, uow.operations.unfinished(plan_id)))
        for operation in waiting:
            finish = _FINISH.get(operation.kind)
            if finish is not None:
                finish(workspace, store, workspace.plan(plan_id), operation)
