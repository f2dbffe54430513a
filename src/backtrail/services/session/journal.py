"""Writing the log of operations, which is also what crash recovery reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from backtrail.domain.ids import OperationId
from backtrail.domain.operation import Operation, OperationKind, OperationState
from backtrail.domain.redaction import redacted, redacted_line
from backtrail.git.restore.git_state import Asked
from backtrail.services.session.context import new_id

if TYPE_CHECKING:
    from backtrail.domain.ids import CheckpointId
    from backtrail.domain.plan import Phase, Plan, PlanState
    from backtrail.services.session.context import Workspace
    from backtrail.storage.database import UnitOfWork


IGNORED_BEFORE = "ignored_before"
"""What was ignored when a restore began: needed until it ends, and by nobody afterwards."""


DURING_MERGE = "during_merge"


@dataclass(frozen=True, slots=True)
class Entry:
    """What an operation is about to do."""

    kind: OperationKind
    reason: str = ""
    target: CheckpointId | None = None
    entry_operation_id: OperationId | None = None
    phase_after: Phase | None = None
    state_after: PlanState | None = None
    paths: tuple[str, ...] = ()
    move_branch: bool = False
    during_merge: bool = False
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What whoever finishes it has to know besides; kept with the result."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", redacted(self.reason))

    @property
    def asked(self) -> Asked:
        return Asked(self.move_branch, self.during_merge)


def asked_of_git(operation: Operation) -> Asked:
    """What was asked for about the git state of an attached sandbox."""
    return Asked(operation.move_branch, bool(operation.result.get(DURING_MERGE)))


def open_operation(ws: Workspace, uow: UnitOfWork, plan: Plan, entry: Entry) -> Operation:
    """Announce an operation; it stays open until it is done or failed."""
    operation = _operation(ws, uow, plan, entry)
    uow.operations.add(operation)
    return operation


def _operation(ws: Workspace, uow: UnitOfWork, plan: Plan, entry: Entry) -> Operation:
    plan = uow.plans.lock(plan.plan_id)
    return Operation(
        operation_id=OperationId(new_id(uow.operations.newest_id(plan.plan_id))),
        plan_id=plan.plan_id,
        number=uow.operations.next_number(plan.plan_id),
        kind=entry.kind,
        state=OperationState.OPEN,
        actor=ws.actor.name,
        host=ws.actor.host,
        command_line=redacted_line(ws.actor.command_line),
        reason=entry.reason,
        target_checkpoint_id=entry.target,
        safety_checkpoint_id=None,
        result_checkpoint_id=None,
        entry_operation_id=entry.entry_operation_id,
        stack=None,
        phase_before=plan.phase,
        state_before=plan.state,
        phase_after=entry.phase_after or plan.phase,
        state_after=entry.state_after or plan.state,
        epoch_before=plan.current_epoch,
        epoch_after=None,
        paths=entry.paths,
        move_branch=entry.move_branch,
        started_at=ws.now(),
        finished_at=None,
        result={**entry.notes, **({DURING_MERGE: True} if entry.during_merge else {})},
    )


def log_done(
    ws: Workspace,
    uow: UnitOfWork,
    plan: Plan,
    entry: Entry,
    result: CheckpointId | None = None,
    outcome: Mapping[str, Any] | None = None,
) -> Operation:
    """Log something that is already done, in the transaction that did it."""
    operation = replace(
        _operation(ws, uow, plan, entry),
        state=OperationState.DONE,
        result_checkpoint_id=result,
        finished_at=ws.now(),
        result=outcome or {},
    )
    uow.operations.add(operation)
    return operation


def outcome_of(operation: Operation) -> dict[str, Any]:
    """What is worth keeping of an operation that ends: no list that may be as long as a disk."""
    return {name: value for name, value in operation.result.items() if name != IGNORED_BEFORE}


def fail_operation(ws: Workspace, operation: Operation, why: str) -> None:
    """Close an operation that did not do what was asked; this is final."""
    with ws.database.write() as uow:
        uow.operations.update(
            operation.operation_id,
            state=OperationState.FAILED,
            result={**outcome_of(operation), "failure": redacted(why)},
            finished_at=ws.now(),
        )
