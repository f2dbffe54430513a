"""What retention asks of the checkpoints, and the marks of those that go."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from backtrail.domain.checkpoint import Checkpoint, CheckpointState
from backtrail.domain.ids import CheckpointId, PlanId
from backtrail.domain.operation import Operation
from backtrail.domain.retention import RemoveReason, RetentionRow
from backtrail.storage.repositories.checkpoints import change_state
from backtrail.storage.rows.mapping import CHECKPOINTS, Origin, columns_of
from backtrail.storage.rows.tables import CheckpointRow

_JUDGED_BY = columns_of(CheckpointRow, RetentionRow)
"""Its other fields are worked out."""


class PruningRepository:
    """The pruning side of the checkpoints of one transaction."""

    def __init__(self, session: Session, origin: Origin) -> None:
        self._session = session
        self._origin = origin

    def count_complete(self, plan_id: PlanId) -> int:
        """An index alone answers this: it is asked after every checkpoint."""
        query = select(func.count()).where(
            CheckpointRow.plan_id == plan_id, CheckpointRow.state == CheckpointState.COMPLETE
        )
        return self._session.scalar(query) or 0

    def candidates(self, plan_id: PlanId) -> list[RetentionRow]:
        """This store's complete checkpoints; those of others are not ours to prune."""
        return self._judged(plan_id, CheckpointState.COMPLETE)

    def broken(self, plan_id: PlanId) -> list[RetentionRow]:
        """Those that cannot be restored: they failed, or objects of them are missing."""
        return self._judged(plan_id, CheckpointState.FAILED, CheckpointState.DAMAGED)

    def _judged(self, plan_id: PlanId, *states: CheckpointState) -> list[RetentionRow]:
        query = select(*_JUDGED_BY, CheckpointRow.superseded_by, CheckpointRow.metadata_json)
        rows = self._session.execute(query.where(*self._of(plan_id, *states)))
        return [
            RetentionRow(*values, live=superseded_by is None, tree=_tree(metadata))
            for *values, superseded_by, metadata in rows
        ]

    def had_label(self, plan_id: PlanId, label: str) -> Checkpoint | None:
        """The newest tombstone of what had a label that is nobody's now."""
        query = select(CheckpointRow).where(*self._of(plan_id, CheckpointState.PRUNED))
        rows = self._session.scalars(query.order_by(CheckpointRow.position.desc()))
        found = (row for row in rows if row.metadata_json.get("released_label") == label)
        return next(map(CHECKPOINTS.value_of, found), None)

    def start(self, reasons: Mapping[CheckpointId, RemoveReason], operation: Operation) -> None:
        """From here on these go, whatever happens: recovery finishes what is `pruning`."""
        by = f"{operation.kind} {operation.number}, {operation.command_line}"
        at = operation.started_at.isoformat()
        for checkpoint, why in reasons.items():
            row = self._session.get_one(CheckpointRow, checkpoint)
            row.state = CheckpointState.PRUNING
            note = {"at": at, "by": by, "reason": str(why)}
            row.metadata_json = {**row.metadata_json, "pruned": note}
        self._session.flush()

    def finish(self, plan_id: PlanId) -> None:
        """Leave tombstones of all that is `pruning`."""
        query = select(CheckpointRow).where(*self._of(plan_id, CheckpointState.PRUNING))
        for row in self._session.scalars(query).all():
            change_state(row, CheckpointState.PRUNED)
        self._session.flush()

    def _of(self, plan_id: PlanId, *states: CheckpointState) -> tuple[ColumnElement[bool], ...]:
        return (
            CheckpointRow.plan_id == plan_id,
            CheckpointRow.state.in_(states),
            CheckpointRow.store_id == self._origin.store_id,
        )


def _tree(metadata: Mapping[str, Any]) -> str | None:
    """What a damaged or foreign row says is no reason to fail."""
    tree = metadata.get("tree")
    return tree if isinstance(tree, str) else None
