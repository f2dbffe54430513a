"""What is ordered: a rollback, an undo or a redo, and how it is carried out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.errors import FailedError
from backtrail.domain.operation import OperationKind, Stack
from backtrail.domain.plan import Phase, PlanState
from backtrail.services.session.context import DEFAULT_WAIT
from backtrail.services.session.journal import Entry, asked_of_git

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.rollback import RollbackRequest
    from backtrail.services.session.context import LockedSandbox


@dataclass(frozen=True, slots=True)
class Order:
    """The checkpoint to bring back, and the journal entry for doing so."""

    target: Checkpoint
    entry: Entry
    said: tuple[str, ...] = ()
    """What of it the user did not ask for in so many words."""


@dataclass(frozen=True, slots=True)
class Execution:
    """How an order is carried out."""

    dry_run: bool = False
    abort_run: bool = False
    """Whether a run that is live is ended first."""
    wait: float = DEFAULT_WAIT


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


def take_back_order(locked: LockedSandbox, *, stack: Stack, during_merge: bool) -> Order:
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
