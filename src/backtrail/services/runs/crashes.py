"""Runs whose holder is gone: what is left of their command ends, and they are closed.

No file is touched. A rollback that the run would have done is not made up for: somebody may have
worked in the sandbox since. What to type is said instead.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.domain.operation import OperationKind, OperationState
from backtrail.domain.run import RunStatus
from backtrail.processes.family import Family, named
from backtrail.processes.table import identity_of
from backtrail.services.lease import Timing, fenced, may_be_taken_over, new_lease
from backtrail.services.session.journal import Entry, log_done

if TYPE_CHECKING:
    from backtrail.domain.operation import Operation
    from backtrail.domain.run import Run
    from backtrail.services.session.context import EnteredSandbox, LockedSandbox, Workspace
    from backtrail.storage.database import UnitOfWork


_KEPT = (RunStatus.SUCCESS, RunStatus.ERROR, RunStatus.TIMEOUT, RunStatus.INTERRUPTED)


def take_over(locked: EnteredSandbox, *, expired_too: bool = False) -> Run | None:
    """The plan's run if its holder is gone; it is ours then, and nothing of it is alive."""
    ws, run = locked.workspace, locked.rows.run
    if run is None or run.run_id == ws.run_id:
        return None
    family = Family(run.run_id, run.command)
    if not may_be_taken_over(ws, run, expired_too=expired_too) or family.holds_this_process():
        return None
    taken = _claim(ws, run)
    if taken is None:
        return None
    ws.failpoints.reach("run.taken_over")
    done = family.end(grace=Timing().grace)
    if done.ended:
        ws.notices.append(f"ended what run {run.number} had left running: {named(done.ended)}")
    if done.left:
        ws.notices.append(
            f"run {run.number} crashed, and some of its processes cannot be ended: "
            f"{named(done.left)}"
        )
        return None
    ws.failpoints.reach("run.orphans_ended")
    return taken


def _claim(ws: Workspace, run: Run) -> Run | None:
    """Fence the earlier holder off, unless it was heard of, or somebody was faster."""
    with ws.database.write() as uow:
        uow.plans.lock(run.plan_id)
        now = uow.runs.get(run.run_id)
        if now is None or not now.live or (now.fence, now.lease) != (run.fence, run.lease):
            return None
        return uow.runs.update(
            run.run_id,
            fence=uow.runs.next_fence(run.plan_id),
            holder=identity_of(os.getpid()),
            host_id=ws.host_id,
            lease=new_lease(ws, Timing()),
        )


def close_crashed(locked: LockedSandbox, run: Run) -> None:
    """Say how the run ended, once recovery has finished what it had begun."""
    ws = fenced(locked.workspace, run)
    with ws.database.write() as uow:
        status = _status_of(uow, run)
        uow.runs.update(
            run.run_id,
            status=status,
            ended_at=ws.now(),
            result={**run.result, "crashed": True},
        )
        plan = uow.plans.get(run.plan_id)
        entry = Entry(
            OperationKind.RUN,
            reason=f"run {run.number} crashed",
            target=run.pre_checkpoint_id,
        )
        log_done(
            ws, uow, plan, entry, run.post_checkpoint_id, {"run": run.run_id, "status": status}
        )
    ws.failpoints.reach("run.crash_closed")
    locked.workspace.notices.append(_sentence(locked, run, status))


def _status_of(uow: UnitOfWork, run: Run) -> RunStatus:
    """What it had decided on, if that was done; else it was interrupted."""
    if run.status is not RunStatus.FINALIZING:
        return RunStatus.INTERRUPTED
    if run.result.get("rollback"):
        done = _own_rollback(uow, run)
        landed = done is not None and done.state is OperationState.DONE
        return RunStatus.ROLLED_BACK if landed else RunStatus.INTERRUPTED
    decided = str(run.result.get("decided"))
    return RunStatus(decided) if decided in _KEPT else RunStatus.INTERRUPTED


def _own_rollback(uow: UnitOfWork, run: Run) -> Operation | None:
    """The rollback that the run itself began: nobody else's can be that young."""
    found = [
        operation
        for operation in uow.operations.of_kinds(run.plan_id, (OperationKind.ROLLBACK,))
        if operation.target_checkpoint_id == run.pre_checkpoint_id
        and operation.number >= run.result.get("operations", 0)
    ]
    return found[0] if found else None


def _sentence(locked: LockedSandbox, run: Run, status: RunStatus) -> str:
    name = locked.plan.name
    if status is not RunStatus.INTERRUPTED:
        return f"run {run.number} crashed when all of it but the record was done: {status}"
    if run.status is RunStatus.PENDING:
        return f"run {run.number} crashed before its command was started"
    back = (
        f"plan rollback {name} before:{run.number} takes its changes back"
        if run.pre_checkpoint_id
        else "it was not protected"
    )
    again = f"plan resume {name} runs it again"
    return f"run {run.number} crashed; its files are as it left them: {back}, {again}"
