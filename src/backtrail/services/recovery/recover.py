"""Repairing what a crash left behind, at the start of every command that writes.

Open operations first, adoption last. Nothing of value is ever deleted to make things consistent,
and nothing is written over content that is neither the state before nor the state asked for.
Recovery of a crashed recovery is the same code.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.errors import BacktrailError, BusyError, StorageError
from backtrail.domain.operation import OperationKind, OperationState
from backtrail.domain.wording import some_of
from backtrail.git.capture.conflicts import Replacing
from backtrail.git.restore.concurrent_edits import (
    find_concurrent_edits,
    foreign_extras,
    foreign_git_state,
)
from backtrail.git.restore.goal import goal_of, replacing
from backtrail.git.restore.staging import put_back_aside
from backtrail.services.apply.land import finish_apply, tidy_up
from backtrail.services.recovery.reconcile import looks_consistent, reconcile_rows_and_refs
from backtrail.services.rollback.guard import content_of
from backtrail.services.rollback.restore import finish, prepare, way_back
from backtrail.services.session.guards import check_no_git_lock
from backtrail.services.session.journal import fail_operation
from backtrail.services.snapshot.create import create_checkpoint

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CheckpointId
    from backtrail.domain.operation import Operation
    from backtrail.git.checkpoint.state import Captured
    from backtrail.services.session.context import EnteredSandbox, LockedSandbox
    from backtrail.storage.database import UnitOfWork


def recover(locked: EnteredSandbox) -> EnteredSandbox:
    """Bring rows, refs and sandbox into agreement; cheap when they already are."""
    unfinished = locked.rows.unfinished
    loose = locked.store.loose_ref_names(locked.sandbox.sandbox_id)
    if not unfinished and looks_consistent(locked.rows.states, loose):
        return locked
    locked.workspace.progress("repairing what an interrupted command left")
    for operation in unfinished:
        if not operation.makes_or_unmakes_sandbox:
            _recover_operation(locked, operation)
    reconcile_rows_and_refs(locked)
    locked.workspace.failpoints.reach("recovery.done")
    return locked.read_again()


def _recover_operation(locked: LockedSandbox, operation: Operation) -> None:
    ws = locked.workspace
    if operation.kind is OperationKind.APPLY:
        tidy_up(locked)
    if operation.state is OperationState.OPEN:
        fail_operation(ws, operation, "interrupted before any file was changed")
        ws.notices.append(f"an interrupted {operation.kind} had not changed any file")
        return
    try:
        if operation.kind is OperationKind.APPLY:
            finish_apply(locked, operation)
        elif not _must_wait(locked, operation):
            _recover_restoring(locked, operation)
    except BacktrailError as error:
        # The command that the user typed must not be blocked by one that failed before it.
        fail_operation(ws, operation, error.message)
        advice = f"; {error.hint}" if error.hint else ""
        ws.notices.append(
            f"an interrupted {operation.kind} could not be finished: {error.message}{advice}"
        )


def _must_wait(locked: LockedSandbox, operation: Operation) -> bool:
    """Whether a lock of git's is in the way: the operation stays open, and files as they are.

    It may be that of a git that was killed with us, which cannot be told from the user's own.
    """
    try:
        check_no_git_lock(locked)
    except BusyError as error:
        locked.workspace.notices.append(
            f"an interrupted {operation.kind} is not finished yet: {error.message}; {error.hint}"
        )
        return True
    return False


def _recover_restoring(locked: LockedSandbox, operation: Operation) -> None:
    ws = locked.workspace
    with ws.database.read() as uow:
        target = needed_row(uow, operation.target_checkpoint_id)
        safety = needed_row(uow, operation.safety_checkpoint_id)
    try:
        before, wanted = content_of(locked, safety), content_of(locked, target)
    except BacktrailError:
        # Nobody knows any more whether it may go.
        put_back_aside(locked.store, locked.sandbox)
        raise
    saved = (before.tree, before.state.included.tree)
    put_back_aside(locked.store, locked.sandbox, saved)
    goal = goal_of(locked.store, wanted, before, operation.paths)
    store, past, since = locked.store, before.state, time.time_ns()
    moved = Replacing(branches=tuple(ref for ref, _ in past.git_state.branches))
    now = locked.camera.capture(
        replacing=replacing(store, goal.tree, goal.extras, goal.included)
        + replacing(store, before.tree, past.extras, past.included)
        + moved
    )
    ws.failpoints.reach("recovery.looked")
    edits = find_concurrent_edits(store, now, before, goal)
    aim = before if operation.paths else wanted
    foreign = [
        *edits.foreign,
        *foreign_extras(store, now, before, goal),
        *foreign_git_state(locked.store, now.state.git_state, before.state, aim.state),
    ]
    if foreign:
        _leave_to_the_user(locked, operation, target, now, foreign)
        return
    if edits.cut_short:
        _keep(locked, operation, now)
    prepared = prepare(locked, operation, wanted=wanted, safety=before, current=now, since_ns=since)
    finish(locked, operation, target, prepared)
    ws.notices.append(
        f"finished the {operation.kind} to checkpoint {target.seq} that was interrupted"
    )


def needed_row(uow: UnitOfWork, checkpoint_id: CheckpointId | None) -> Checkpoint:
    """The row of a checkpoint that an operation names."""
    row = uow.checkpoints.get(checkpoint_id) if checkpoint_id else None
    if row is None:
        raise StorageError("an interrupted operation names a checkpoint that is not there")
    return row


def _leave_to_the_user(
    locked: LockedSandbox,
    operation: Operation,
    target: Checkpoint,
    now: Captured,
    foreign: list[str],
) -> None:
    """Somebody worked here since the crash: keep that work, change no file, say what to type."""
    ws = locked.workspace
    kept = _keep(locked, operation, now)
    fail_operation(ws, operation, "somebody worked in the sandbox since it was interrupted")
    ws.notices.append(
        f"a {operation.kind} was interrupted and the sandbox was changed since "
        f"({some_of(foreign)}): no file was touched, its present state is "
        f"checkpoint {kept.seq}; {way_back(locked, operation, target)}"
    )


def _keep(locked: LockedSandbox, operation: Operation, now: Captured) -> Checkpoint:
    """The sandbox as it was found, as a checkpoint of its own."""
    request = CheckpointRequest(
        reason=f"found after an interrupted {operation.kind}",
        checkpoint_type=CheckpointType.ON_ERROR,
    )
    return create_checkpoint(locked, request, captured=now).checkpoint
