"""Rolling back, undo and redo: guards, a safety checkpoint, the restore, and the report."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.errors import BacktrailError
from backtrail.domain.rollback import Part, RollbackResult
from backtrail.domain.wording import of_paths
from backtrail.services.retention.prune import keep_within_limits
from backtrail.services.rollback.guard import (
    check_guards,
    gone_for_good,
    replacing_for,
    with_whole_paths,
)
from backtrail.services.rollback.impact import Effect, effect_of, state_now
from backtrail.services.rollback.report import about_what_is_gone, left_alone, spared, worth_saying
from backtrail.services.rollback.restore import begin_restoring, finish, prepare
from backtrail.services.session.context import collection_put_off
from backtrail.services.session.guards import check_leaves_other_sandboxes
from backtrail.services.session.journal import fail_operation, open_operation
from backtrail.services.snapshot.create import create_checkpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrail.domain.operation import Operation
    from backtrail.domain.rollback import LeftAlone
    from backtrail.git.restore.git_state import GitStatePlan
    from backtrail.services.rollback.guard import Aim
    from backtrail.services.rollback.order import Order
    from backtrail.services.rollback.restore import Prepared
    from backtrail.services.session.context import EnteredSandbox, LockedSandbox
    from backtrail.services.snapshot.create import Made


def carry_out(locked: EnteredSandbox, order: Order) -> RollbackResult:
    """Restore the target exactly, prove it, and move the timeline."""
    ws = locked.workspace
    aim = check_guards(locked, order)
    order = _naming_its_paths(with_whole_paths(locked, order, aim.wanted))
    with ws.database.write() as uow:
        operation = open_operation(ws, uow, locked.plan, order.entry)
        effect = effect_of(uow, locked, order.target, partial=bool(operation.paths))
    ws.failpoints.reach("rollback.opened")
    return carry_on(locked, order, operation, aim, effect)


@collection_put_off()
def carry_on(
    locked: LockedSandbox, order: Order, operation: Operation, aim: Aim, effect: Effect
) -> RollbackResult:
    """From an operation that is open to its end."""
    ws = locked.workspace
    safety, prepared = _make_ready(locked, order, operation, aim)
    ignored = safety.captured.ignored
    staying = spared(locked.sandbox.path, ignored, prepared.files)
    gone = gone_for_good(locked, aim)
    operation = begin_restoring(locked, operation, safety.checkpoint, ignored)
    ws.failpoints.reach("rollback.restoring")
    restored = finish(locked, operation, order.target, prepared)
    ws.failpoints.reach("rollback.done")
    keep_within_limits(locked)
    plan, after = state_now(locked)
    return RollbackResult(
        plan=plan,
        kind=operation.kind,
        operation_id=operation.operation_id,
        target=order.target,
        safety_checkpoint=safety.checkpoint,
        restored_checkpoint=restored.checkpoint,
        verified=True,
        dry_run=False,
        paths=operation.paths,
        changes=restored.files.changes,
        left_alone=left_alone(restored.files, staying, safety.captured.state.not_captured),
        impact=effect.impact,
        after=after,
        proven=_proven(restored.git),
        not_restored=restored.git.not_restored if restored.git else (),
        messages=(
            *(restored.git.messages if restored.git else ()),
            *_remarks(locked, aim, prepared, safety, gone),
            *order.said,
            *effect.remarks,
        ),
        gone_since=gone,
    )


def _proven(git_plan: GitStatePlan | None) -> tuple[Part, ...]:
    return git_plan.proven if git_plan else (Part.FILES,)


def _naming_its_paths(order: Order) -> Order:
    """The log tells which paths alone came back, beside the reason that was given."""
    entry = order.entry
    return replace(
        order, entry=replace(entry, reason=f"{entry.reason}{of_paths(entry.paths)}".strip())
    )


def _make_ready(
    locked: LockedSandbox, order: Order, operation: Operation, aim: Aim
) -> tuple[Made, Prepared]:
    """The safety checkpoint, and what will be done.

    If anything of that cannot be had, the operation ends before it began.
    """
    ws, since = locked.workspace, time.time_ns()
    try:
        safety = _make_safe(locked, order, operation, aim)
        ws.failpoints.reach("rollback.safety_made")
        captured = safety.captured
        prepared = prepare(
            locked,
            operation,
            wanted=aim.wanted,
            safety=captured,
            current=captured,
            since_ns=since,
        )
        check_leaves_other_sandboxes(locked, captured.state, prepared.files.changes)
    except BacktrailError as error:
        fail_operation(ws, operation, error.message)
        raise
    return safety, prepared


def _make_safe(locked: LockedSandbox, order: Order, operation: Operation, aim: Aim) -> Made:
    locked.workspace.progress("saving the sandbox as it is")
    request = CheckpointRequest(
        reason=(
            f"before {operation.kind} to checkpoint {order.target.seq}{of_paths(operation.paths)}"
        ),
        checkpoint_type=CheckpointType.PRE_ROLLBACK,
    )
    return create_checkpoint(
        locked,
        request,
        operation_id=operation.operation_id,
        replacing=replacing_for(locked, aim, order.entry),
    )


def _remarks(
    locked: LockedSandbox, aim: Aim, prepared: Prepared, safety: Made, gone: Sequence[LeftAlone]
) -> tuple[str, ...]:
    if aim.present is not None:
        return ()
    wanted, before = aim.wanted.state, safety.captured.state
    told = worth_saying(locked.sandbox.path, wanted, before, prepared.files)
    return (*told, *about_what_is_gone(wanted, gone))
