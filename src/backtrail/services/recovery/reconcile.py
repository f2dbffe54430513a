"""Making rows and refs agree: `complete` means exactly one ref with that commit, connected."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import Checkpoint, CheckpointState, CheckpointType
from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import CheckpointId, CommitId, OperationId
from backtrail.domain.timeline import lineage_of
from backtrail.git.checkpoint.commit import CheckpointCommit, read_checkpoint
from backtrail.git.store.integrity import CommitPair, start_additions

if TYPE_CHECKING:
    from backtrail.services.session.context import LockedSandbox
    from backtrail.storage.database import UnitOfWork


# A failed one may have got its ref before it was found not to be whole.
_PINNED = (CheckpointState.COMPLETE, CheckpointState.DAMAGED, CheckpointState.FAILED)
_UNFINISHED = (CheckpointState.CREATING, CheckpointState.PRUNING)


def looks_consistent(states: Mapping[CheckpointId, CheckpointState], refs: Collection[str]) -> bool:
    """Whether rows and refs agree at a glance, so that nothing more need be asked of git."""
    complete = {i for i, state in states.items() if state is CheckpointState.COMPLETE}
    allowed = {i for i, state in states.items() if state in _PINNED}
    unfinished = any(state in _UNFINISHED for state in states.values())
    return not unfinished and complete <= set(refs) <= allowed


def reconcile_rows_and_refs(locked: LockedSandbox) -> None:
    """Finish, fail, re-pin, mark or adopt: whatever each row and each ref needs."""
    with locked.workspace.database.read() as uow:
        rows = uow.checkpoints.list(
            locked.plan.plan_id, include_superseded=True, include_tombstones=True
        )
    locked.store.set_damaged_refs_aside(locked.sandbox.sandbox_id)
    refs = locked.store.refs_of(locked.sandbox.sandbox_id)
    for row in rows:
        _reconcile(locked, row, refs.get(row.checkpoint_id))
    known = {row.checkpoint_id for row in rows}
    for checkpoint_id, commit in refs.items():
        if checkpoint_id not in known:
            _adopt(locked, commit)


def _reconcile(locked: LockedSandbox, row: Checkpoint, ref: CommitId | None) -> None:
    match row.state:
        case CheckpointState.CREATING:
            _finish_creating(locked, row, ref)
        case CheckpointState.COMPLETE if ref is None:
            _pin_again(locked, row)
        case CheckpointState.PRUNING | CheckpointState.PRUNED:
            _finish_pruning(locked, row, ref)
        case _:
            return


def _finish_creating(locked: LockedSandbox, row: Checkpoint, ref: CommitId | None) -> None:
    found = _readable(locked, ref) if ref else None
    size = _added(locked, found) if found else None
    with locked.workspace.database.write() as uow:
        if found is None or size is None:
            uow.checkpoints.set_state(
                row.checkpoint_id, CheckpointState.FAILED, note="interrupted before it was whole"
            )
            return
        uow.checkpoints.complete(
            row.checkpoint_id,
            sandbox_ref=found.commit,
            size_bytes=size,
            metadata=found.facts.get("metadata", row.metadata),
            superseded_by=_superseded_by(uow, row),
        )


def _readable(locked: LockedSandbox, commit: CommitId) -> CheckpointCommit | None:
    try:
        return read_checkpoint(locked.store, commit)
    except GitFailedError:
        # Objects are missing: such a checkpoint was never whole.
        return None


def _added(locked: LockedSandbox, found: CheckpointCommit) -> int | None:
    base = locked.sandbox.base_commit
    known = CommitPair(base, None) if base else None
    pair = CommitPair(found.commit, found.captured.state_commit)
    return start_additions(locked.store, pair, known).size()


def _superseded_by(uow: UnitOfWork, row: Checkpoint) -> OperationId | None:
    """None while live; else the operation whose epoch the row belongs to."""
    plan = uow.plans.get(row.plan_id)
    epochs = uow.epochs.all(row.plan_id)
    if lineage_of(plan.current_epoch, epochs).contains(row.epoch, row.position):
        return None
    off = epochs.get(row.epoch)
    return (off.operation_id if off else None) or epochs[plan.current_epoch].operation_id


def _pin_again(locked: LockedSandbox, row: Checkpoint) -> None:
    ws = locked.workspace
    if row.sandbox_ref and locked.store.connected(row.sandbox_ref):
        locked.store.pin(locked.sandbox.sandbox_id, row.checkpoint_id, row.sandbox_ref)
        return
    with ws.database.write() as uow:
        uow.checkpoints.set_state(
            row.checkpoint_id, CheckpointState.DAMAGED, note="its ref and objects are missing"
        )
    ws.notices.append(
        f"checkpoint {row.seq} of plan {locked.plan.name} is DAMAGED: its objects are missing "
        "from the store and it cannot be restored"
    )


def _finish_pruning(locked: LockedSandbox, row: Checkpoint, ref: CommitId | None) -> None:
    if ref is not None:
        locked.store.unpin(locked.sandbox.sandbox_id, {row.checkpoint_id: ref})
    if row.state is CheckpointState.PRUNING:
        with locked.workspace.database.write() as uow:
            uow.checkpoints.set_state(row.checkpoint_id, CheckpointState.PRUNED)


def _adopt(locked: LockedSandbox, commit: CommitId) -> None:
    """Rebuild the row of a ref that no row knows, from what its commit says."""
    found = _readable(locked, commit)
    if found is None:
        return
    size, facts = _added(locked, found), found.facts
    if size is None or facts.get("plan_id") != locked.plan.plan_id:
        return
    row = Checkpoint(
        checkpoint_id=CheckpointId(facts["checkpoint_id"]),
        plan_id=locked.plan.plan_id,
        seq=facts["seq"],
        position=facts["position"],
        epoch=facts["epoch"],
        checkpoint_type=CheckpointType(facts["checkpoint_type"]),
        state=CheckpointState.COMPLETE,
        sandbox_ref=commit,
        resource_id=locked.sandbox.sandbox_id,
        decision_id=None,
        parent_checkpoint_id=None,
        superseded_by=None,
        filesystem_path=facts["filesystem_path"],
        size_bytes=size,
        label=None,
        pinned=False,
        verified_green=False,
        last_completed_step=facts["last_completed_step"],
        created_at=datetime.fromisoformat(facts["created_at"]),
        metadata={**facts["metadata"], "adopted": True},
    )
    with locked.workspace.database.write() as uow:
        # Rows restored from an older copy may know less than the refs.
        while uow.plans.get(row.plan_id).position < row.position:
            uow.plans.next_position(row.plan_id)
        label = facts["label"]
        if label and uow.checkpoints.by_label(row.plan_id, label) is None:
            row = replace(row, label=label)
        decision = facts["decision_id"]
        if decision and uow.decisions.get(row.plan_id, decision) is not None:
            row = replace(row, decision_id=decision)
        row = replace(row, superseded_by=_superseded_by(uow, row), **_free_numbers(uow, row))
        uow.checkpoints.announce(row, operation_id=None)
    locked.workspace.notices.append(f"checkpoint {row.seq} was found in the store and listed again")


def _free_numbers(uow: UnitOfWork, row: Checkpoint) -> dict[str, int]:
    """Its own numbers, unless rows made since have taken them: then it goes to the end."""
    taken = {entry.position for entry in uow.checkpoints.timeline(row.plan_id)}
    taken |= {mark.position for mark in uow.steps.marks(row.plan_id)}
    if uow.checkpoints.by_seq(row.plan_id, row.seq) is None and row.position not in taken:
        return {}
    return {
        "seq": uow.checkpoints.next_seq(row.plan_id),
        "position": uow.plans.next_position(row.plan_id),
    }
