"""The log of operations, and the undo and redo stacks that are marked in it."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, TypedDict, Unpack

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backtrail.domain.errors import NotFoundError
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
from backtrail.storage.rows.mapping import Origin, operation_of, operation_row
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


class OperationRepository:
    """Operations of one transaction."""

    def __init__(self, session: Session, origin: Origin) -> None:
        self._session = session
        self._origin = origin

    def add(self, operation: Operation) -> None:
        self._session.add(operation_row(operation, self._origin))
        self._session.flush()

    def next_number(self, plan_id: PlanId) -> int:
        query = select(func.max(OperationRow.number)).where(OperationRow.plan_id == plan_id)
        return (self._session.scalar(query) or 0) + 1

    def newest_id(self, plan_id: PlanId) -> OperationId | None:
        """The largest id of the plan, which the next one must exceed."""
        query = select(func.max(OperationRow.operation_id))
        return self._session.scalar(query.where(OperationRow.plan_id == plan_id))

    def get(self, operation_id: OperationId) -> Operation | None:
        row = self._session.get(OperationRow, operation_id)
        return None if row is None else operation_of(row)

    def unfinished(self, plan_id: PlanId) -> Operations:
        """This store's open ones, oldest first; recovery must not touch others'."""
        query = select(OperationRow).where(
            OperationRow.plan_id == plan_id,
            OperationRow.state.in_(UNFINISHED),
            OperationRow.store_id == self._origin.store_id,
        )
        # Sorted here: ORDER BY would lure SQLite away from the index on states to that on numbers.
        return sorted(map(operation_of, self._session.scalars(query)), key=attrgetter("number"))

    def update(self, operation_id: OperationId, **changes: Unpack[OperationChanges]) -> None:
        row = self._session.get(OperationRow, operation_id)
        if row is None:
            raise NotFoundError(f"there is no operation {operation_id}")
        for name, value in changes.items():
            setattr(row, "result_json" if name == "result" else name, value)
        self._session.flush()

    def stacked(self, plan_id: PlanId) -> Operations:
        """The entries of both stacks, oldest first."""
        return sorted(map(operation_of, self._stacked(plan_id)), key=attrgetter("number"))

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
        for row in (*self._stacked(plan_id), *self._session.scalars(named)):
            row.stack = wanted.get(row.operation_id)
        self._session.flush()

    def list(self, plan_id: PlanId, limit: int | None = None) -> Operations:
        """Newest first."""
        query = select(OperationRow).where(OperationRow.plan_id == plan_id)
        rows = self._session.scalars(query.order_by(OperationRow.number.desc()).limit(limit))
        return [operation_of(row) for row in rows]

    def of_kinds(self, plan_id: PlanId, kinds: Collection[OperationKind]) -> Operations:
        """Those of these kinds, oldest first."""
        query = select(OperationRow).where(
            OperationRow.plan_id == plan_id, OperationRow.kind.in_(kinds)
        )
        return [
            operation_of(row) for row in self._session.scalars(query.order_by(OperationRow.number))
        ]

    def _stacked(self, plan_id: PlanId) -> Sequence[OperationRow]:
        query = select(OperationRow).where(
            OperationRow.plan_id == plan_id, OperationRow.stack.in_(tuple(Stack))
        )
        return self._session.scalars(query).all()
