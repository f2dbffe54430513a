"""A damaged checkpoint whose objects are back is complete again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointState

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.services.session.context import LockedSandbox


def heal(locked: LockedSandbox, checkpoint: Checkpoint) -> Checkpoint:
    """A checkpoint that was found damaged, made complete again if its objects are back."""
    commit = checkpoint.sandbox_ref
    if checkpoint.state is not CheckpointState.DAMAGED or commit is None:
        return checkpoint
    if not locked.store.connected(commit):
        return checkpoint
    with locked.workspace.database.write() as uow:
        uow.checkpoints.set_state(checkpoint.checkpoint_id, CheckpointState.COMPLETE)
    return replace(checkpoint, state=CheckpointState.COMPLETE)
