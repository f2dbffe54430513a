"""Bringing a removed or destroyed sandbox back: a worktree in its place, then a proven restore.

What a removal set aside is moved back; else an empty worktree is made. From there on it is a
rollback to the latest checkpoint, with the same safety checkpoint and the same proof.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.domain.errors import BacktrailError, FailedError, RefusedError
from backtrail.domain.operation import OperationKind, OperationState
from backtrail.domain.plan import PlanState, RestoreResult, RestoreSource
from backtrail.git.user.discovery import worktree_at
from backtrail.git.user.identity import located, mark_as_sandbox
from backtrail.git.user.worktrees import connect
from backtrail.services.lifecycle.placement import find_source, put_in_place, refuse_branch_in_use
from backtrail.services.recovery.reconcile import reconcile_rows_and_refs
from backtrail.services.recovery.recover import needed_row
from backtrail.services.rollback.child_plans import settled_return
from backtrail.services.rollback.execute import carry_on
from backtrail.services.rollback.guard import Aim, content_of
from backtrail.services.rollback.impact import effect_of
from backtrail.services.rollback.order import Order
from backtrail.services.session.context import LockedSandbox, read_rows
from backtrail.services.session.guards import check_restorable, looked_at_again
from backtrail.services.session.journal import Entry, fail_operation, log_done, open_operation

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import PlanId
    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback import RollbackResult
    from backtrail.git.store.store import PrivateStore
    from backtrail.services.session.context import Workspace
    from backtrail.storage.database import UnitOfWork


_PATH, _SOURCE = "path", "source"
_FILES_STAY = (RestoreSource.MOVED, RestoreSource.ATTACHED)


def restore_plan(
    ws: Workspace, plan_id: PlanId, *, path: Path | None, dry_run: bool, wait: float
) -> RestoreResult:
    """Bring the sandbox of a plan back, at its old place or at another one."""
    with ws.holding(ws.plan(plan_id).sandbox, wait=wait) as store:
        plan = ws.plan(plan_id)
        path = path or plan.sandbox.path
        _refuse_in_place(ws, plan, path)
        latest = _latest(ws, plan)
        source = find_source(ws, plan, path)
        if source in _FILES_STAY:
            back = plan if dry_run else _take_up(ws, plan, path)
            return RestoreResult(back, dry_run, source, path, None)
        target = _target(ws, plan, store, latest)
        if dry_run:
            return RestoreResult(plan, dry_run, source, path, target)
        operation = _announce(ws, plan, target, path, source)
        ws.failpoints.reach("restore.opened")
        done = _attempt(ws, store, operation)
        return RestoreResult(
            plan=done.plan,
            dry_run=False,
            source=source,
            path=path,
            target=target,
            safety_checkpoint=done.safety_checkpoint,
            restored_checkpoint=done.restored_checkpoint,
            files_restored=len(done.changes),
            verified=done.verified,
            not_restored=done.not_restored,
            messages=done.messages,
        )


def finished_restore(ws: Workspace, operation: Operation) -> RestoreResult | None:
    """The result of a restore that a later command finished; None if it did not get there."""
    with ws.database.read() as uow:
        done = uow.operations.get(operation.operation_id)
        if done is None or done.state is not OperationState.DONE:
            return None
        ends = (
            done.target_checkpoint_id,
            done.safety_checkpoint_id,
            done.result_checkpoint_id,
        )
        target, safety, restored = (uow.checkpoints.get(end) if end else None for end in ends)
    path, source = Path(done.result[_PATH]), RestoreSource(done.result[_SOURCE])
    return RestoreResult(
        plan=ws.plan(done.plan_id),
        dry_run=False,
        source=source,
        path=path,
        target=target,
        safety_checkpoint=safety,
        restored_checkpoint=restored,
        verified=True,
    )


def _refuse_in_place(ws: Workspace, plan: Plan, path: Path) -> None:
    if plan.state is PlanState.REMOVED or path != plan.sandbox.path:
        return
    try:
        ws.located(plan)
    except BacktrailError:
        return
    raise FailedError(
        f"the sandbox of plan {plan.name!r} is in its place: there is nothing to restore",
        hint=f"plan rollback {plan.name} CHECKPOINT brings an earlier state back",
    )


def _latest(ws: Workspace, plan: Plan) -> Checkpoint:
    with ws.database.read() as uow:
        latest = uow.checkpoints.latest(plan.plan_id)
    if latest is None:
        raise RefusedError(
            f"plan {plan.name!r} has no checkpoint that could be restored",
            hint="plan create makes a new plan",
        )
    return latest


def _target(ws: Workspace, plan: Plan, store: PrivateStore, latest: Checkpoint) -> Checkpoint:
    """The latest checkpoint, if it and the plan's branch can be restored."""
    locked = LockedSandbox(ws, plan, plan.sandbox, store)
    check_restorable(looked_at_again(locked, latest))
    refuse_branch_in_use(ws, plan, content_of(locked, latest))
    return latest


def _return_entry(uow: UnitOfWork, plan: Plan, target: Checkpoint | None, why: str) -> Entry:
    """Phase and state are again what they were before the plan was removed."""
    phase, state = plan.phase, plan.state
    if state is PlanState.REMOVED:
        *_, removal = uow.operations.of_kinds(plan.plan_id, (OperationKind.REMOVE,))
        phase, state = removal.phase_before, removal.state_before
    phase, state, notes = settled_return(uow, plan, phase, state)
    return Entry(
        OperationKind.RESTORE,
        reason=why,
        target=target.checkpoint_id if target else None,
        phase_after=phase,
        state_after=state,
        notes=notes,
    )


def _announce(
    ws: Workspace, plan: Plan, target: Checkpoint, path: Path, source: RestoreSource
) -> Operation:
    """Write down what is to come; the name is taken here, so that nobody else takes it."""
    with ws.database.write() as uow:
        uow.plans.lock(plan.plan_id)
        _refuse_name_taken(ws, uow, plan)
        why = f"comes from {source.replace('_', ' ')}"
        operation = open_operation(ws, uow, plan, _return_entry(uow, plan, target, why))
        result = {**operation.result, _PATH: str(path), _SOURCE: source}
        uow.operations.update(operation.operation_id, result=result)
        _say_if_invalidated(ws, plan, operation.state_after)
        uow.plans.set_state(plan.plan_id, operation.phase_after, operation.state_after)
        return uow.operations.get(operation.operation_id) or operation


def _say_if_invalidated(ws: Workspace, plan: Plan, state: PlanState | None) -> None:
    if state is PlanState.INVALIDATED:
        ws.notices.append(
            f"plan {plan.name} is not on the timeline of its parent plan and comes back invalidated"
        )


def _refuse_name_taken(ws: Workspace, uow: UnitOfWork, plan: Plan) -> None:
    holder = uow.plans.by_name(ws.repository_id, plan.name)
    if holder is not None and holder.plan_id != plan.plan_id:
        raise RefusedError(
            f"another plan has the name {plan.name!r} now",
            hint=f"plan fork {plan.plan_id} latest NEW-NAME makes a new plan of that state",
        )


def _take_up(ws: Workspace, plan: Plan, path: Path) -> Plan:
    """Go on with a worktree whose files are where the user wants them; none is touched."""
    worktree = worktree_at(path)
    if worktree is None:
        raise FailedError(f"{str(path)!r} is no worktree any more", hint="git worktree list")
    ws.refuse_foreign(path, worktree.git_dir)
    if not worktree.is_main:
        connect(path, worktree.git_dir, plan.sandbox)
    mark_as_sandbox(worktree, plan.sandbox.sandbox_id)
    located(replace(plan.sandbox, path=path, git_dir=worktree.git_dir), ws.common_dir)
    ws.failpoints.reach("relocation.connected")
    with ws.database.write() as uow:
        uow.plans.lock(plan.plan_id)
        _refuse_name_taken(ws, uow, plan)
        entry = _return_entry(uow, plan, None, f"is at {path}")
        log_done(ws, uow, plan, entry, outcome=entry.notes)
        _say_if_invalidated(ws, plan, entry.state_after)
        uow.plans.set_place(plan.plan_id, path, worktree.git_dir)
        uow.plans.set_state(
            plan.plan_id, entry.phase_after or plan.phase, entry.state_after or plan.state
        )
        return uow.plans.get(plan.plan_id)


def _attempt(ws: Workspace, store: PrivateStore, operation: Operation) -> RollbackResult:
    """Carry an announced restore out; without a sandbox the plan is again what it was."""
    try:
        return _carry_out(ws, store, operation)
    except BacktrailError as error:
        _give_up(ws, operation, error)
        raise


def _carry_out(ws: Workspace, store: PrivateStore, operation: Operation) -> RollbackResult:
    plan = ws.plan(operation.plan_id)
    path = Path(operation.result[_PATH])
    find_source(ws, plan, path)
    with ws.database.read() as uow:
        target = needed_row(uow, operation.target_checkpoint_id)
    wanted = content_of(LockedSandbox(ws, plan, plan.sandbox, store), target)
    git_dir = put_in_place(ws, store, plan, path, wanted)
    with ws.database.write() as uow:
        uow.plans.set_place(plan.plan_id, path, git_dir)
    ws.failpoints.reach("restore.placed")
    locked = ws.entered(read_rows(ws, plan.plan_id), store)
    reconcile_rows_and_refs(locked)
    entry = Entry(
        operation.kind, phase_after=operation.phase_after, state_after=operation.state_after
    )
    with ws.database.read() as uow:
        effect = effect_of(uow, locked, target, partial=False)
    return carry_on(locked, Order(target, entry), operation, Aim(wanted), effect)


def _give_up(ws: Workspace, operation: Operation, error: BacktrailError) -> None:
    try:
        ws.located(ws.plan(operation.plan_id))
    except BacktrailError:
        fail_operation(ws, operation, error.message)
        with ws.database.write() as uow:
            uow.plans.set_state(operation.plan_id, operation.phase_before, operation.state_before)


def finish_restoration(
    ws: Workspace, store: PrivateStore, plan: Plan, operation: Operation
) -> None:
    """Finish a restore that was interrupted before it changed a file."""
    _attempt(ws, store, operation)
    ws.notices.append(f"finished the restore of plan {plan.name} that was interrupted")
