"""The append-only log of what changed a plan, and the undo and redo stacks drawn from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from backtrail.domain.ids import CheckpointId, OperationId, PlanId
    from backtrail.domain.plan import Phase, PlanState

UNDO_DEPTH = 10


class OperationKind(StrEnum):
    CREATE_PLAN = "create_plan"
    CHECKPOINT = "checkpoint"
    LABEL = "label"
    PIN = "pin"
    UNPIN = "unpin"
    PRUNE = "prune"
    DELETE = "delete"
    POLICY = "policy"
    DECISION = "decision"
    APPEND = "append"
    REVERT = "revert"
    ROLLBACK = "rollback"
    UNDO = "undo"
    REDO = "redo"
    CANCEL = "cancel"
    REOPEN = "reopen"
    REMOVE = "remove"
    PURGE = "purge"
    RESTORE = "restore"
    RUN = "run"
    TOOL = "tool"
    APPLY = "apply"
    BRANCH = "branch"


GOING_BACK = (OperationKind.ROLLBACK, OperationKind.REVERT)
"""Those that can be undone."""
RESTORING_KINDS = (
    *GOING_BACK,
    OperationKind.UNDO,
    OperationKind.REDO,
    OperationKind.RESTORE,
)
"""Those that bring a checkpoint back."""


class OperationState(StrEnum):
    """`open`: no file has been changed yet; `restoring`: files or branches are being changed."""

    OPEN = "open"
    RESTORING = "restoring"
    DONE = "done"
    FAILED = "failed"


UNFINISHED = (OperationState.OPEN, OperationState.RESTORING)


class Stack(StrEnum):
    UNDO = "undo"
    REDO = "redo"


_OF_SANDBOXES = (OperationKind.CREATE_PLAN, OperationKind.REMOVE, OperationKind.PURGE)


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the log; it is also the journal that crash recovery reads."""

    operation_id: OperationId
    plan_id: PlanId
    number: int
    kind: OperationKind
    state: OperationState
    actor: str
    host: str
    command_line: str
    reason: str
    target_checkpoint_id: CheckpointId | None
    safety_checkpoint_id: CheckpointId | None
    result_checkpoint_id: CheckpointId | None
    entry_operation_id: OperationId | None
    """For undo and redo: the operation that this one takes back."""
    stack: Stack | None
    phase_before: Phase
    state_before: PlanState
    phase_after: Phase
    state_after: PlanState
    epoch_before: int
    epoch_after: int | None
    paths: tuple[str, ...]
    """Empty for a full restore; else the sandbox-relative paths that alone are restored."""
    move_branch: bool
    started_at: datetime
    finished_at: datetime | None
    result: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def failed(self) -> bool:
        return self.state is OperationState.FAILED

    @property
    def makes_or_unmakes_sandbox(self) -> bool:
        """Whether it is finished elsewhere than in recovery, which needs a sandbox to be there."""
        if self.kind is OperationKind.RESTORE:
            return self.state is OperationState.OPEN
        return self.kind in _OF_SANDBOXES


@dataclass(frozen=True, slots=True)
class Stacks:
    """What can be undone and redone, the next one last."""

    undo: tuple[OperationId, ...] = ()
    redo: tuple[OperationId, ...] = ()

    def restoring(self, operation: OperationId, *, depth: int) -> Stacks:
        """A rollback has begun to change files: undoable from now on, whatever comes of it."""
        return Stacks(undo=_newest((*self.undo, operation), depth), redo=())

    def undone(self, operation: OperationId, entry: OperationId, *, entry_failed: bool) -> Stacks:
        """An undo is done; taking back a failed operation leaves nothing to redo."""
        undo = tuple(o for o in self.undo if o != entry)
        return Stacks(undo=undo, redo=self.redo if entry_failed else (*self.redo, operation))

    def redone(self, operation: OperationId, entry: OperationId, *, depth: int) -> Stacks:
        redo = tuple(o for o in self.redo if o != entry)
        return Stacks(undo=_newest((*self.undo, operation), depth), redo=redo)


def _newest(entries: tuple[OperationId, ...], depth: int) -> tuple[OperationId, ...]:
    return entries[-depth:] if depth > 0 else ()
