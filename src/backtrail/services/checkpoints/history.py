"""The history of a plan as a tree, with how many files each checkpoint changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.domain.history import History, View, history_of
from backtrail.domain.operation import RESTORING_KINDS
from backtrail.git.compare.diff import changed_file_counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CheckpointId, CommitId, PlanId
    from backtrail.services.session.context import Workspace


def read_history(ws: Workspace, plan_id: PlanId, view: View) -> History:
    """What a view shows of a plan's history; nothing is locked and nothing repaired."""
    with ws.database.read() as uow:
        plan = uow.plans.get(plan_id)
        rows = uow.checkpoints.list(plan_id, include_superseded=True, include_tombstones=True)
        epochs = uow.epochs.all(plan_id)
        operations = uow.operations.of_kinds(plan_id, RESTORING_KINDS)
    history = history_of(plan, rows, epochs, operations, view)
    return _with_counts(ws, history, {row.checkpoint_id: row for row in rows})


def _with_counts(
    ws: Workspace, history: History, rows: Mapping[CheckpointId, Checkpoint]
) -> History:
    """The same history, each entry compared with the checkpoint that was the latest before it."""
    pairs = [_commits(entry.checkpoint, rows) for entry in history.entries]
    counts = changed_file_counts(ws.store, [pair for pair in pairs if pair])
    unread = sum(pair is not None and pair[0] not in counts for pair in pairs)
    if unread:
        ws.notices.append(
            f"what changed cannot be counted everywhere ({unread} of {len(pairs)}): "
            "git cannot read all of the checkpoint store"
        )
    entries = (
        replace(entry, files_changed=counts.get(pair[0]) if pair else None)
        for entry, pair in zip(history.entries, pairs, strict=True)
    )
    return replace(history, entries=tuple(entries))


def _commits(
    checkpoint: Checkpoint, rows: Mapping[CheckpointId, Checkpoint]
) -> tuple[CommitId, CommitId] | None:
    """The commit of a checkpoint and that of its parent, if both are still kept."""
    before = checkpoint.parent_checkpoint_id
    commit, older = _kept(checkpoint), _kept(rows.get(before) if before else None)
    return (commit, older) if commit and older else None


def _kept(checkpoint: Checkpoint | None) -> CommitId | None:
    return checkpoint.sandbox_ref if checkpoint and checkpoint.restorable else None
