"""The end of a rollback: its own checkpoint, and one transaction that moves the timeline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointState, CheckpointType
from backtrail.domain.operation import OperationKind, OperationState
from backtrail.domain.plan import PlanState
from backtrail.domain.timeline import Epoch, next_epoch_number, supersessions
from backtrail.domain.wording import of_paths
from backtrail.git.capture.staged import not_whole, staged_blobs
from backtrail.git.checkpoint.commit import read_checkpoint
from backtrail.git.checkpoint.state import Captured, storing_parts, write_state
from backtrail.git.ignore.eligibility import NOT_WHOLE
from backtrail.git.user.transfer import Named, bring_named
from backtrail.services.retention.effective import limits_of
from backtrail.services.rollback.child_plans import settle_children
from backtrail.services.session.journal import outcome_of
from backtrail.services.snapshot.create import (
    Announced,
    announce,
    announced,
    complete,
    pin,
    start_check,
    whole_size,
    write_commit,
)

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint, NotCaptured
    from backtrail.domain.operation import Operation, Stacks
    from backtrail.git.checkpoint.state import SandboxState
    from backtrail.git.ignore.ignored import IgnoredNames
    from backtrail.git.restore.goal import Goal
    from backtrail.git.restore.proof import FileProof
    from backtrail.git.user.head import GitState
    from backtrail.services.session.context import LockedSandbox
    from backtrail.storage.database import UnitOfWork


@dataclass(frozen=True, slots=True)
class Seen:
    """What the proof has found, and what was asked for."""

    goal: Goal
    files: FileProof
    git_state: GitState
    ignored: IgnoredNames
    """What is there and no part of the goal."""


def land(
    locked: LockedSandbox, operation: Operation, target: Checkpoint, wanted: Captured, seen: Seen
) -> Checkpoint:
    """Record the proven state as a checkpoint of its own and make it the newest of the plan."""
    ws = locked.workspace
    tried_before = operation.result_checkpoint_id is not None
    result, operation = _announced(locked, operation, target)
    companion = ws.companions.get(operation.kind)
    if companion is not None:
        result = replace(result, row=companion.row(result.row, operation))
    row = result.row
    ws.failpoints.reach("rollback.result_announced")
    captured = _as_restored(locked, wanted, seen)
    commit = (
        locked.store.pinned(locked.sandbox.sandbox_id, row.checkpoint_id) if tried_before else None
    )
    if commit is None:
        commit = write_commit(locked, result, captured)
        ws.failpoints.reach("rollback.result_written")
        additions = start_check(locked, commit, captured, like=target)
        pin(locked, row, commit)
    else:
        captured = read_checkpoint(locked.store, commit).captured
        additions = start_check(locked, commit, captured, like=target)
    ws.failpoints.reach("rollback.result_pinned")
    size = whole_size(locked, additions)
    with ws.database.write() as uow:
        checkpoint = complete(uow, row, captured, commit, size)
        _move_timeline(locked, uow, operation)
        if companion is not None:
            companion.record(ws, uow, operation, checkpoint.checkpoint_id)
    ws.failpoints.reach("rollback.landed")
    return checkpoint


def _announced(
    locked: LockedSandbox, operation: Operation, target: Checkpoint
) -> tuple[Announced, Operation]:
    """The row of the result, announced now or by an earlier attempt that did not get further."""
    with locked.workspace.database.write() as uow:
        if operation.result_checkpoint_id:
            row = uow.checkpoints.get(operation.result_checkpoint_id)
            if row is not None and row.state is CheckpointState.CREATING:
                return announced(uow, uow.plans.get(row.plan_id), row, None), operation
        epoch = operation.epoch_before if operation.paths else _new_epoch(uow, operation, target)
        result = announce(
            locked,
            uow,
            CheckpointRequest(
                reason=_reason(operation, target), checkpoint_type=CheckpointType.ROLLBACK
            ),
            operation_id=operation.operation_id,
            epoch=epoch,
        )
        operation = replace(
            operation, result_checkpoint_id=result.row.checkpoint_id, epoch_after=epoch
        )
        uow.operations.update(
            operation.operation_id,
            result_checkpoint_id=result.row.checkpoint_id,
            epoch_after=epoch,
        )
    return result, operation


def _reason(operation: Operation, target: Checkpoint) -> str:
    return f"{operation.kind} to checkpoint {target.seq}{of_paths(operation.paths)}"


def _new_epoch(uow: UnitOfWork, operation: Operation, target: Checkpoint) -> int:
    """An epoch that branches off the target; it becomes the current one when the result lands."""
    number = next_epoch_number(uow.epochs.all(operation.plan_id))
    uow.epochs.add(
        Epoch(
            plan_id=operation.plan_id,
            number=number,
            parent=target.epoch,
            cut=target.position,
            operation_id=operation.operation_id,
        )
    )
    return number


def _as_restored(locked: LockedSandbox, wanted: Captured, seen: Seen) -> Captured:
    """What the proof has shown to be there, in the form of a capture."""
    goal, git_state = seen.goal, seen.git_state
    named, not_whole_notes = _named(locked, wanted.state, git_state)
    state = replace(
        wanted.state,
        git_state=git_state,
        staged=_staged(locked, wanted.state, git_state),
        ignore_rules=goal.ignore_rules,
        forced=goal.forced,
        accounted=goal.accounted,
        not_captured=(*seen.files.not_captured, *not_whole_notes),
        extras=replace(goal.extras, repositories=seen.files.repositories),
        included=goal.included,
        ignored=seen.ignored,
        named=named,
    )
    if state == wanted.state:
        # A state commit bears a fixed date: it would come out the very same.
        return Captured(goal.tree, wanted.state_commit, state)
    with storing_parts(locked.store, git_state.index, goal.ignore_rules.excludes) as parts:
        base = locked.sandbox.base_commit
        state_commit = write_state(locked.store, state, parts.blobs(), base)
    return Captured(goal.tree, state_commit, state)


def _staged(locked: LockedSandbox, wanted: SandboxState, found: GitState) -> tuple[str, ...]:
    """The blobs that only the index names: the target's own, if index and HEAD are the target's."""
    then = wanted.git_state
    if (then.index, then.head_commit) == (found.index, found.head_commit):
        return wanted.staged
    return staged_blobs(locked.store, found)


def _named(
    locked: LockedSandbox, wanted: SandboxState, found: GitState
) -> tuple[Named, list[NotCaptured]]:
    """What of the user's is kept for the sake of what is under way, and what cannot be."""
    if found.merge == wanted.git_state.merge:
        return wanted.named, [note for note in wanted.not_captured if note.reason == NOT_WHOLE]
    known = (*([base] if (base := locked.sandbox.base_commit) else []), *found.commits)
    brought = bring_named(locked.store, found.merge.names, known)
    return brought.named, not_whole(found.merge, brought)


def _move_timeline(locked: LockedSandbox, uow: UnitOfWork, operation: Operation) -> None:
    plan_id, result = operation.plan_id, outcome_of(operation)
    if not operation.paths and operation.epoch_after is not None:
        plan = uow.plans.lock(plan_id)
        uow.plans.set_epoch(plan_id, operation.epoch_after)
        lineage = uow.epochs.lineage(plan_id, operation.epoch_after)
        changes = supersessions(uow.checkpoints.timeline(plan_id), lineage, operation.operation_id)
        uow.checkpoints.mark_superseded(changes)
        if plan.state is not PlanState.INVALIDATED:
            uow.plans.set_state(plan_id, operation.phase_after, operation.state_after)
        result |= settle_children(uow, operation, lineage)
    uow.operations.save_stacks(plan_id, _stacks_after(locked, uow, operation))
    uow.operations.update(
        operation.operation_id,
        state=OperationState.DONE,
        finished_at=locked.workspace.now(),
        result=result,
    )


def _stacks_after(locked: LockedSandbox, uow: UnitOfWork, operation: Operation) -> Stacks:
    stacks = uow.operations.stacks(operation.plan_id)
    entry_id = operation.entry_operation_id
    if entry_id is None:
        return stacks
    if operation.kind is OperationKind.REDO:
        depth = limits_of(locked.workspace, locked.plan).undo_depth
        return stacks.redone(operation.operation_id, entry_id, depth=depth)
    entry = uow.operations.get(entry_id)
    failed = entry is None or entry.failed
    return stacks.undone(operation.operation_id, entry_id, entry_failed=failed)
