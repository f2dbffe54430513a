"""Rolling back, undo and redo: guards, a safety checkpoint, the restore, and the report."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.errors import BacktrailError, FailedError
from backtrail.domain.operation import OperationKind, Stack
from backtrail.domain.plan import Phase, PlanState
from backtrail.domain.rollback import Part, RollbackResult
from backtrail.domain.wording import of_paths
from backtrail.git.restore.git_state import branches_of
from backtrail.git.restore.goal import goal_of, refuse_unknown_paths, replacing, whole_paths
from backtrail.git.restore.plan import plan_files
from backtrail.services.retention.effective import check_policy_allows_rollback
from backtrail.services.retention.heal import heal
from backtrail.services.retention.prune import keep_within_limits
from backtrail.services.rollback.forecast import Outlook
from backtrail.services.rollback.impact import (
    about_the_timeline,
    impact_of,
    state_forecast,
    state_now,
)
from backtrail.services.rollback.report import (
    about_what_is_gone,
    gone_since,
    left_alone,
    spared,
    worth_saying,
)
from backtrail.services.rollback.restore import (
    begin_restoring,
    content_of,
    finish,
    git_plan_for,
    prepare,
)
from backtrail.services.session.context import collection_put_off
from backtrail.services.session.guards import (
    check_leaves_other_sandboxes,
    check_may_interrupt,
    check_no_run,
    check_plan_allows_rollback,
    check_restorable,
    foretell_abort,
)
from backtrail.services.session.journal import Entry, asked_of_git, fail_operation, open_operation
from backtrail.services.snapshot.create import create_checkpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.operation import Operation
    from backtrail.domain.rollback import LeftAlone, RollbackRequest
    from backtrail.git.capture.conflicts import Replacing
    from backtrail.git.checkpoint.state import Captured, Glimpse
    from backtrail.git.restore.git_state import GitStatePlan
    from backtrail.services.rollback.restore import Prepared
    from backtrail.services.session.context import LockedSandbox
    from backtrail.services.snapshot.create import Made


@dataclass(frozen=True, slots=True)
class Order:
    """The checkpoint to bring back, and the journal entry for doing so."""

    target: Checkpoint
    entry: Entry
    said: tuple[str, ...] = ()
    """What of it the user did not ask for in so many words."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What is to be brought back and, for some paths alone, what is there in their place."""

    wanted: Captured
    present: Glimpse | None = None


def rollback_order(target: Checkpoint, request: RollbackRequest) -> Order:
    """A rollback; a full one leaves the plan ready to be worked on again."""
    entry = Entry(
        kind=OperationKind.ROLLBACK,
        reason=request.reason,
        target=target.checkpoint_id,
        phase_after=None if request.paths else Phase.EXECUTE,
        state_after=None if request.paths else PlanState.QUEUED,
        paths=request.paths,
        move_branch=request.move_branch,
        during_merge=request.during_merge,
    )
    return Order(target, entry)


def take_back_order(locked: LockedSandbox, stack: Stack, *, during_merge: bool) -> Order:
    """The undo or redo of the top entry of a stack: back to that entry's own safety checkpoint."""
    with locked.workspace.database.read() as uow:
        stacks = uow.operations.stacks(locked.plan.plan_id)
        waiting = stacks.undo if stack is Stack.UNDO else stacks.redo
        top = uow.operations.get(waiting[-1]) if waiting else None
        safety = top.safety_checkpoint_id if top else None
        target = uow.checkpoints.get(safety) if safety else None
    if top is None or target is None:
        raise FailedError(
            f"plan {locked.plan.name!r} has nothing to {stack}",
            hint="plan ops shows what was done to the plan",
        )
    entry = Entry(
        kind=OperationKind.UNDO if stack is Stack.UNDO else OperationKind.REDO,
        reason=f"takes back {top.kind} {top.number}",
        target=target.checkpoint_id,
        entry_operation_id=top.operation_id,
        phase_after=top.phase_before,
        state_after=top.state_before,
        paths=top.paths,
        move_branch=top.move_branch,
        during_merge=during_merge or asked_of_git(top).during_merge,
    )
    return Order(target, entry)


def carry_out(locked: LockedSandbox, order: Order) -> RollbackResult:
    """Restore the target exactly, prove it, and move the timeline."""
    ws = locked.workspace
    aim = _check_guards(locked, order)
    order = _naming_its_paths(_with_whole_paths(locked, order, aim.wanted))
    with ws.database.write() as uow:
        operation = open_operation(ws, uow, locked.plan, order.entry)
    ws.failpoints.reach("rollback.opened")
    return go_on(locked, order, operation, aim)


@collection_put_off()
def go_on(locked: LockedSandbox, order: Order, operation: Operation, aim: Aim) -> RollbackResult:
    """From an operation that is open to its end."""
    ws = locked.workspace
    partial = bool(order.entry.paths)
    impact = impact_of(locked, order.target, partial=partial)
    said = (*order.said, *about_the_timeline(locked, order.target, partial=partial))
    safety, prepared = _make_ready(locked, order, operation, aim)
    ignored = safety.captured.ignored
    staying = spared(locked.sandbox.path, ignored, prepared.files)
    gone = _gone(locked, aim)
    operation = begin_restoring(locked, operation, safety.checkpoint, ignored)
    ws.failpoints.reach("rollback.restoring")
    restored = finish(locked, operation, order.target, prepared)
    ws.failpoints.reach("rollback.done")
    keep_within_limits(locked)
    return RollbackResult(
        plan=ws.plan(locked.plan.plan_id),
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
        impact=impact,
        after=state_now(locked),
        proven=_proven(restored.git),
        not_restored=restored.git.not_restored if restored.git else (),
        messages=(
            *(restored.git.messages if restored.git else ()),
            *_remarks(locked, aim, prepared, safety, gone),
            *said,
        ),
        gone_since=gone,
    )


def _proven(git_plan: GitStatePlan | None) -> tuple[Part, ...]:
    return git_plan.proven if git_plan else (Part.FILES,)


@collection_put_off()
def preview(locked: LockedSandbox, order: Order, *, abort_run: bool = False) -> RollbackResult:
    """Exactly what carrying the order out would do; nothing of it is done."""
    if abort_run:
        foretell_abort(locked.workspace, locked.plan)
    aim = _check_guards(locked, order, abort_run=abort_run)
    wanted, order = aim.wanted, _with_whole_paths(locked, order, aim.wanted)
    entry = order.entry
    current = locked.camera.peek(replacing=_replacing(locked, aim, entry))
    goal = goal_of(locked.store, wanted, current, entry.paths)
    files = plan_files(locked.store, current, goal)
    check_leaves_other_sandboxes(locked, current.state, files.changes)
    partial = bool(entry.paths)
    said = (*order.said, *about_the_timeline(locked, order.target, partial=partial))
    gone = _gone(locked, aim)
    git_plan = None if partial else git_plan_for(locked, wanted, entry.asked)
    if git_plan:
        told = worth_saying(locked.sandbox.path, wanted.state, current.state, files)
        said = (*git_plan.messages, *told, *about_what_is_gone(wanted.state, gone), *said)
    staying = spared(locked.sandbox.path, current.ignored, files)
    return RollbackResult(
        plan=locked.plan,
        kind=entry.kind,
        operation_id=None,
        target=order.target,
        safety_checkpoint=None,
        restored_checkpoint=None,
        verified=False,
        dry_run=True,
        paths=entry.paths,
        changes=files.changes,
        left_alone=left_alone(files, staying, current.state.not_captured),
        impact=impact_of(locked, order.target, partial=partial),
        after=state_forecast(locked, Outlook(entry, order.target, current.tree, goal.tree)),
        not_restored=git_plan.not_restored if git_plan else (),
        messages=said,
        gone_since=gone,
    )


def _check_guards(locked: LockedSandbox, order: Order, *, abort_run: bool = False) -> Aim:
    """Everything that can be refused before anything is changed."""
    check_plan_allows_rollback(locked.workspace, locked.plan)
    if not abort_run:
        check_no_run(locked.workspace, locked.plan)
    check_policy_allows_rollback(locked.workspace, locked.plan)
    check_restorable(heal(locked, order.target))
    check_may_interrupt(locked, during_merge=order.entry.during_merge)
    wanted = content_of(locked, order.target)
    if not order.entry.paths:
        git_plan_for(locked, wanted, order.entry.asked)
        return Aim(wanted)
    present = locked.camera.peek()
    if order.entry.kind is OperationKind.ROLLBACK:
        paths, root = order.entry.paths, locked.sandbox.path
        refuse_unknown_paths(locked.store, root, paths, wanted, present)
    return Aim(wanted, present)


def _with_whole_paths(locked: LockedSandbox, order: Order, wanted: Captured) -> Order:
    asked = order.entry.paths
    paths = whole_paths(locked.store, wanted, asked)
    said = tuple(
        f"{path!r} was a file at the checkpoint: it comes back in the place of all that is in it"
        for path in paths
        if path not in asked
    )
    return replace(order, entry=replace(order.entry, paths=paths), said=said)


def _naming_its_paths(order: Order) -> Order:
    """The log tells which paths alone came back, beside the reason that was given."""
    entry = order.entry
    return replace(
        order, entry=replace(entry, reason=f"{entry.reason}{of_paths(entry.paths)}".strip())
    )


def _replacing(locked: LockedSandbox, aim: Aim, entry: Entry) -> Replacing:
    """What will be written over the sandbox: of a partial restore, its goal."""
    if aim.present is None:
        state = aim.wanted.state
        coming = replacing(locked.store, aim.wanted.tree, state.extras, state.included)
        moved = tuple(branches_of(state.git_state)) if entry.move_branch else ()
        return replace(coming, accounted=state.accounted, branches=moved)
    goal = goal_of(locked.store, aim.wanted, aim.present, entry.paths)
    coming = replacing(locked.store, goal.tree, goal.extras, goal.included)
    return replace(coming, accounted=goal.accounted)


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
        replacing=_replacing(locked, aim, order.entry),
    )


def _gone(locked: LockedSandbox, aim: Aim) -> tuple[LeftAlone, ...]:
    """What no rollback brings back, as the sandbox is before it; of some paths alone, nothing."""
    return () if aim.present is not None else gone_since(locked.sandbox.path, aim.wanted.state)


def _remarks(
    locked: LockedSandbox, aim: Aim, prepared: Prepared, safety: Made, gone: Sequence[LeftAlone]
) -> tuple[str, ...]:
    if aim.present is not None:
        return ()
    wanted, before = aim.wanted.state, safety.captured.state
    told = worth_saying(locked.sandbox.path, wanted, before, prepared.files)
    return (*told, *about_what_is_gone(wanted, gone))
