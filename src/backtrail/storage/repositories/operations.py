"""The log of operations, and the undo and redo stacks that are marked in it."""

from collections.abc import Collection, Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any, TypedDict, Unpack

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from backtrail.domain.ids import CheckpointId, OperationId, PlanId
from backtrail.domain.operation import (
    UNFINISHED,
    Operation,
    OperationKind,
    OperationState,
    Stack,
    Stacks,
)
from backtrail.domain.plan import Phase, PlanState
from backtrail.storage.repositories.base import Repository
from backtrail.storage.rows.mapping import OPERATIONS, Origin
from backtrail.storage.rows.tables import OperationRow

Operations = list[Operation]
"""`list` is a method below, which hides the type of that name."""


class OperationChanges(TypedDict, total=False):
    """What may change in an operation once it is in the log."""

    state: OperationState
    safety_checkpoint_id: CheckpointId | None
    result_checkpoint_id: CheckpointId | None
    epoch_after: int | None
    phase_after: Phase
    state_after: PlanState
    finished_at: datetime | None
    result: Mapping[str, Any]


class OperationRepository(Repository[OperationRow, Operation, OperationId]):
    """Operations of one transaction."""

    def __init__(self, session: Session, origin: Origin) -> None:
        super().__init__(session, OPERATIONS, OperationRow.operation_id)
        self._origin = origin

    def add(self, operation: Operation) -> None:
        self._insert(operation, **self._origin._asdict())

    def next_number(self, plan_id: PlanId) -> int:
        return self._next(OperationRow.number, plan_id)

    def get(self, operation_id: OperationId) -> Operation | None:
        return self._get(operation_id)

    def unfinished(self, plan_id: PlanId) -> Operations:
        """This store's open ones, oldest first; recovery must not touch others'."""
        query = self._of(plan_id).where(
            OperationRow.state.in_(UNFINISHED), OperationRow.store_id == self._origin.store_id
        )
        # Sorted here: ORDER BY would lure SQLite away from the index on states to that on numbers.
        return sorted(self._all(query), key=attrgetter("number"))

    def update(self, operation_id: OperationId, **changes: Unpack[OperationChanges]) -> None:
        self._change(operation_id, **changes)

    def stacked(self, plan_id: PlanId) -> Operations:
        """The entries of both stacks, oldest first."""
        return sorted(self._all(self._stacked(plan_id)), key=attrgetter("number"))

    def stacks(self, plan_id: PlanId) -> Stacks:
        """What can be undone and redone; an entry is pushed when it is new, so numbers order it."""
        entries = self.stacked(plan_id)
        return Stacks(
            undo=tuple(e.operation_id for e in entries if e.stack is Stack.UNDO),
            redo=tuple(e.operation_id for e in entries if e.stack is Stack.REDO),
        )

    def save_stacks(self, plan_id: PlanId, stacks: Stacks) -> None:
        """Make the marks say what the stacks say."""
        wanted = dict.fromkeys(stacks.undo, Stack.UNDO) | dict.fromkeys(stacks.redo, Stack.REDO)
        named = select(OperationRow).where(OperationRow.operation_id.in_(wanted))
        marked = self._session.scalars(self._stacked(plan_id)).all()
        for row in (*marked, *self._session.scalars(named)):
            row.stack = wanted.get(row.operation_id)
        self._session.flush()

    def list(self, plan_id: PlanId, limit: int | None = None) -> Operations:
        """Newest first."""
        return self._all(self._of(plan_id).order_by(OperationRow.number.desc()).limit(limit))

    def of_kinds(self, plan_id: PlanId, kinds: Collection[OperationKind]) -> Operations:
        """Those of these kinds, oldest first."""
        query = self._of(plan_id).where(OperationRow.kind.in_(kinds))
        return self._all(query.order_by(OperationRow.number))

    def _stacked(self, plan_id: PlanId) -> Select[OperationRow]:
        return self._of(plan_id).where(OperationRow.stack.in_(tuple(Stack)))
