"""What retention asks of the checkpoints, and the marks of those that go."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from backtrail.domain.checkpoint import CheckpointState
from backtrail.domain.ids import CheckpointId, PlanId
from backtrail.domain.retention_values import RetentionRow
from backtrail.storage.mapping import Origin
from backtrail.storage.repositories.checkpoints import change_state
from backtrail.storage.tables import CheckpointRow

_JUDGED_BY: tuple[InstrumentedAttribute[Any], ...] = (
    CheckpointRow.checkpoint_id,
    CheckpointRow.seq,
    CheckpointRow.position,
    CheckpointRow.epoch,
    CheckpointRow.checkpoint_type,
    CheckpointRow.sandbox_ref,
    CheckpointRow.pinned,
    CheckpointRow.verified_green,
    CheckpointRow.decision_id,
    CheckpointRow.created_at,
    CheckpointRow.size_bytes,
    CheckpointRow.label,
)
"""In the order of the fields of `RetentionRow`; the rest of them is worked out."""


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
        query = select(*_JUDGED_BY, CheckpointRow.superseded_by, CheckpointRow.metadata_json)
        rows = self._session.execute(query.where(*self._of(plan_id, CheckpointState.COMPLETE)))
        return [
            RetentionRow(*values, live=superseded_by is None, tree=_tree(metadata))
            for *values, superseded_by, metadata in rows
        ]

    def start(self, checkpoints: Iterable[CheckpointId]) -> None:
        """From here on these go, whatever happens: recovery finishes what is `pruning`."""
        marks = [{"checkpoint_id": c, "state": CheckpointState.PRUNING} for c in checkpoints]
        self._session.execute(update(CheckpointRow), marks)
        self._session.expire_all()

    def finish(self, plan_id: PlanId) -> None:
        """Leave tombstones of all that is `pruning`."""
        query = select(CheckpointRow).where(*self._of(plan_id, CheckpointState.PRUNING))
        for row in self._session.scalars(query).all():
            change_state(row, CheckpointState.PRUNED)
        self._session.flush()

    def _of(self, plan_id: PlanId, state: CheckpointState) -> tuple[ColumnElement[bool], ...]:
        return (
            CheckpointRow.plan_id == plan_id,
            CheckpointRow.state == state,
            CheckpointRow.store_id == self._origin.store_id,
        )


def _tree(metadata: Mapping[str, Any]) -> str | None:
    """What a damaged or foreign row says is no reason to fail."""
    tree = metadata.get("tree")
    return tree if isinstance(tree, str) else None
