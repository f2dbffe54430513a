"""The create protocol: the row announces, the ref pins, the final row state commits.

Invariant: `complete` means exactly one ref with that commit, fully connected. No database
transaction is open while git works.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import Checkpoint, CheckpointRequest, CheckpointState
from backtrail.domain.errors import BusyError, GitFailedError, StorageError
from backtrail.domain.ids import CheckpointId, CommitId
from backtrail.domain.redaction import redacted
from backtrail.domain.timeline import Lineage
from backtrail.git.capture.conflicts import Replacing
from backtrail.git.checkpoint.commit import write_checkpoint
from backtrail.git.store.integrity import Additions, CommitPair, start_additions
from backtrail.services.session.context import collection_put_off, new_id
from backtrail.services.session.journal import Entry, log_done
from backtrail.services.snapshot.metadata import (
    checkpoint_facts,
    first_metadata,
    metadata_with_capture,
    newly_missing,
)
from backtrail.services.snapshot.requests import check_label_free

if TYPE_CHECKING:
    from backtrail.domain.ids import OperationId
    from backtrail.domain.plan import Plan
    from backtrail.git.checkpoint.state import Captured
    from backtrail.services.session.context import LockedSandbox
    from backtrail.storage.database import UnitOfWork


@dataclass(frozen=True, slots=True)
class Announced:
    """A row that says what is about to be made, and what it is made after."""

    row: Checkpoint
    plan: Plan
    parent: Checkpoint | None
    lineage: Lineage


@dataclass(frozen=True, slots=True)
class Made:
    """A complete checkpoint and what it captured."""

    checkpoint: Checkpoint
    captured: Captured


@collection_put_off()
def create_checkpoint(
    locked: LockedSandbox,
    request: CheckpointRequest,
    *,
    operation_id: OperationId | None = None,
    replacing: Replacing | None = None,
    captured: Captured | None = None,
    log: Entry | None = None,
) -> Made:
    """Record the sandbox as it is (or what was already captured of it) and say so only then."""
    ws = locked.workspace
    with ws.database.write() as uow:
        announced = announce(locked, uow, request, operation_id=operation_id)
    ws.failpoints.reach("create.announced")
    try:
        ws.progress("looking at the sandbox")
        if captured is None:
            heads = kept_commits(announced.parent)
            captured = locked.camera.capture(replacing=replacing or Replacing(), known_heads=heads)
        commit = write_commit(locked, announced, captured)
        ws.failpoints.reach("create.objects_written")
        additions = start_check(locked, commit, captured, like=announced.parent)
        pin(locked, announced.row, commit)
    except BaseException as error:
        _note_failure(locked, announced.row, error)
        raise
    ws.failpoints.reach("create.pinned")
    size = whole_size(locked, additions)
    ws.failpoints.reach("create.connected")
    with ws.database.write() as uow:
        checkpoint = complete(uow, announced.row, captured, commit, size)
        if log is not None:
            log_done(ws, uow, locked.plan, log, checkpoint.checkpoint_id)
    ws.failpoints.reach("create.completed")
    ws.notices.extend(newly_missing(captured.state.not_captured, announced.parent))
    return Made(checkpoint, captured)


def announce(
    locked: LockedSandbox,
    uow: UnitOfWork,
    request: CheckpointRequest,
    *,
    operation_id: OperationId | None,
    epoch: int | None = None,
) -> Announced:
    """Insert the row with everything that is known already in it."""
    ws = locked.workspace
    plan = uow.plans.lock(locked.plan.plan_id)
    parent = uow.checkpoints.latest(plan.plan_id)
    if request.label is not None:
        check_label_free(uow, plan, request.label, None)
    epoch = plan.current_epoch if epoch is None else epoch
    lineage = uow.epochs.lineage(plan.plan_id, epoch)
    decision = request.decision_id or uow.decisions.newest_in(plan.plan_id, lineage)
    row = Checkpoint(
        checkpoint_id=CheckpointId(new_id(uow.checkpoints.newest_id(plan.plan_id))),
        plan_id=plan.plan_id,
        seq=uow.checkpoints.next_seq(plan.plan_id),
        position=uow.plans.next_position(plan.plan_id),
        epoch=epoch,
        checkpoint_type=request.checkpoint_type,
        state=CheckpointState.CREATING,
        sandbox_ref=None,
        resource_id=locked.sandbox.sandbox_id,
        decision_id=decision,
        parent_checkpoint_id=parent.checkpoint_id if parent else _origin(request),
        superseded_by=None,
        filesystem_path=str(locked.sandbox.path),
        size_bytes=None,
        label=request.label,
        pinned=request.pinned,
        verified_green=False,
        last_completed_step=_last_step(uow, lineage, plan),
        created_at=ws.now(),
        metadata=first_metadata(request, plan, ws.actor),
    )
    uow.checkpoints.announce(row, operation_id=operation_id)
    return Announced(row, plan, parent, lineage)


def _last_step(uow: UnitOfWork, lineage: Lineage, plan: Plan) -> str | None:
    """The step that a resumed script would find done last."""
    last = uow.steps.ledger(plan.plan_id, lineage).last_succeeded
    return last.step.name.key if last else None


def _origin(request: CheckpointRequest) -> CheckpointId | None:
    """A fork's history points at where it came from."""
    return request.forked_from.checkpoint_id if request.forked_from else None


def announced(uow: UnitOfWork, plan: Plan, row: Checkpoint, parent: Checkpoint | None) -> Announced:
    return Announced(row, plan, parent, uow.epochs.lineage(plan.plan_id, row.epoch))


def write_commit(locked: LockedSandbox, announced: Announced, captured: Captured) -> CommitId:
    """Write the objects of an announced checkpoint."""
    row, plan = announced.row, announced.plan
    row = replace(row, metadata=metadata_with_capture(row.metadata, captured))
    return write_checkpoint(
        locked.store,
        captured,
        base=locked.sandbox.base_commit,
        subject=f"{plan.name} #{row.seq} {row.checkpoint_type}: {row.reason}".rstrip(": "),
        facts=checkpoint_facts(row, plan, locked.sandbox, announced.lineage),
        created_at=row.created_at,
    )


def pin(locked: LockedSandbox, row: Checkpoint, commit: CommitId) -> None:
    locked.workspace.database.check()
    locked.store.pin(locked.sandbox.sandbox_id, row.checkpoint_id, commit)


def start_check(
    locked: LockedSandbox, commit: CommitId, captured: Captured, *, like: Checkpoint | None
) -> Additions:
    """Begin to look whether the checkpoint is whole, given one that is."""
    known, base = None, locked.sandbox.base_commit
    if like and like.sandbox_ref:
        known = CommitPair(like.sandbox_ref, like.metadata.get("state_commit"))
    elif base:
        known = CommitPair(base, None)
    return start_additions(locked.store, CommitPair(commit, captured.state_commit), known)


def whole_size(locked: LockedSandbox, additions: Additions) -> int:
    """What the checkpoint added to the store; raises if an object of it is missing."""
    size = additions.size()
    if size is None:
        # What is there now was believed to be there before: nothing is taken on trust next time.
        locked.camera.forget_memo()
        locked.camera.forget_index()
        raise GitFailedError(
            "the checkpoint is not whole: an object is missing from the store or damaged",
            hint="try again, every file is then read anew; git fsck tells of damage in your own",
            details={"commit": additions.new.commit},
        )
    return size


def complete(
    uow: UnitOfWork, row: Checkpoint, captured: Captured, commit: CommitId, size: int
) -> Checkpoint:
    """Commit the row: from here on the checkpoint exists."""
    done = replace(
        row,
        state=CheckpointState.COMPLETE,
        sandbox_ref=commit,
        size_bytes=size,
        metadata=metadata_with_capture(row.metadata, captured),
    )
    uow.checkpoints.complete(
        row.checkpoint_id,
        sandbox_ref=commit,
        size_bytes=size,
        metadata=done.metadata,
        superseded_by=None,
    )
    return done


def kept_commits(previous: Checkpoint | None) -> tuple[CommitId, ...]:
    """Commits of the user's that an earlier checkpoint already keeps in the store."""
    if previous is None:
        return ()
    return tuple(CommitId(commit) for commit in previous.metadata.get("kept_commits", []))


def _note_failure(locked: LockedSandbox, row: Checkpoint, error: BaseException) -> None:
    """Close the row of a create that did not come to its end; a pinned one is recovery's."""
    ref = locked.store.pinned(locked.sandbox.sandbox_id, row.checkpoint_id)
    if ref is None:
        note = redacted(str(error)) or type(error).__name__
        # What went wrong first is what the user must hear; a row left open is recovery's, too.
        with suppress(BusyError, StorageError), locked.workspace.database.write() as uow:
            uow.checkpoints.set_state(row.checkpoint_id, CheckpointState.FAILED, note=note)
