"""Checkpoints: announcing, completing, finding and marking them; order is always by position."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session

from backtrail.domain.checkpoint import Checkpoint, CheckpointState
from backtrail.domain.ids import CheckpointId, CommitId, DecisionId, OperationId, PlanId
from backtrail.domain.timeline import TimelineRow
from backtrail.storage.repositories.base import Repository
from backtrail.storage.rows.mapping import CHECKPOINTS, Origin, columns_of
from backtrail.storage.rows.tables import CheckpointRow

Checkpoints = list[Checkpoint]
"""`list` is a method below, which hides the type of that name."""

_NEVER_TAKEN = (CheckpointState.CREATING, CheckpointState.FAILED)
_SHOWN = (CheckpointState.COMPLETE, CheckpointState.DAMAGED)
_GONE = (CheckpointState.FAILED, CheckpointState.PRUNED)
_PLACE = columns_of(CheckpointRow, TimelineRow)


class CheckpointRepository(Repository[CheckpointRow, Checkpoint, CheckpointId]):
    """Checkpoints of one transaction."""

    def __init__(self, session: Session, origin: Origin) -> None:
        super().__init__(session, CHECKPOINTS, CheckpointRow.checkpoint_id)
        self._origin = origin

    def announce(self, checkpoint: Checkpoint, *, operation_id: OperationId | None) -> None:
        """Insert the row as it is given, with the operation that asked for it."""
        self._insert(checkpoint, **self._origin._asdict(), operation_id=operation_id)

    def next_seq(self, plan_id: PlanId) -> int:
        return self._next(CheckpointRow.seq, plan_id)

    def get(self, checkpoint_id: CheckpointId) -> Checkpoint | None:
        return self._get(checkpoint_id)

    def by_seq(self, plan_id: PlanId, seq: int) -> Checkpoint | None:
        return self._first(self._of(plan_id).where(CheckpointRow.seq == seq))

    def by_label(self, plan_id: PlanId, label: str) -> Checkpoint | None:
        return self._first(self._of(plan_id).where(CheckpointRow.label == label))

    def carrying(self, decision_id: DecisionId) -> Checkpoints:
        """Those that have the id of a decision and were taken, oldest first."""
        query = select(CheckpointRow).where(
            CheckpointRow.decision_id == decision_id, CheckpointRow.state.not_in(_NEVER_TAKEN)
        )
        return self._all(query.order_by(CheckpointRow.position))

    def first(self, plan_id: PlanId) -> Checkpoint | None:
        """The oldest one ever taken, also if it is gone: `first` must not drift to another."""
        query = self._of(plan_id).where(CheckpointRow.state.not_in(_NEVER_TAKEN))
        return self._first(query.order_by(CheckpointRow.position).limit(1))

    def latest(self, plan_id: PlanId) -> Checkpoint | None:
        return self._first(self._live(plan_id).limit(1))

    def last_green(self, plan_id: PlanId) -> Checkpoint | None:
        return self._first(self._live(plan_id).where(CheckpointRow.verified_green).limit(1))

    def live(self, plan_id: PlanId, *, newest: int | None = None, offset: int = 0) -> Checkpoints:
        """Live complete ones, newest first."""
        return self._all(self._live(plan_id).limit(newest).offset(offset))

    def complete(
        self,
        checkpoint_id: CheckpointId,
        *,
        sandbox_ref: CommitId,
        size_bytes: int | None,
        metadata: Mapping[str, Any],
        superseded_by: OperationId | None,
    ) -> None:
        """The commit is pinned: from here on the checkpoint can be restored."""
        self._change(
            checkpoint_id,
            state=CheckpointState.COMPLETE,
            sandbox_ref=sandbox_ref,
            size_bytes=size_bytes,
            metadata=metadata,
            superseded_by=superseded_by,
        )

    def set_state(
        self, checkpoint_id: CheckpointId, state: CheckpointState, *, note: str | None = None
    ) -> None:
        """Change the state; the note says why and is kept in the metadata.

        What failed or was pruned gives its label free for another, and remembers it.
        """
        change_state(self._row(checkpoint_id), state, note)
        self._session.flush()

    def set_label(self, checkpoint_id: CheckpointId, label: str | None) -> None:
        self._change(checkpoint_id, label=label)

    def set_last_step(self, checkpoint_id: CheckpointId, key: str) -> None:
        self._change(checkpoint_id, last_completed_step=key)

    def set_pinned(self, checkpoint_id: CheckpointId, *, pinned: bool) -> None:
        self._change(checkpoint_id, pinned=pinned)

    def set_green(self, checkpoint_id: CheckpointId) -> None:
        """A check of the user's passed on what it holds."""
        self._change(checkpoint_id, verified_green=True)

    def set_decision(self, checkpoint_id: CheckpointId, decision_id: DecisionId) -> None:
        self._change(checkpoint_id, decision_id=decision_id)

    def mark_superseded(self, changes: Mapping[CheckpointId, OperationId | None]) -> None:
        """Set `superseded_by` of many at once."""
        if not changes:
            return
        parameters = [
            {"checkpoint_id": checkpoint, "superseded_by": operation}
            for checkpoint, operation in changes.items()
        ]
        self._session.execute(update(CheckpointRow), parameters)
        # A bulk update passes by the rows that this session has loaded already.
        self._session.expire_all()

    def timeline(self, plan_id: PlanId) -> list[TimelineRow]:
        """All checkpoints by position, without what is long."""
        query = select(*_PLACE).where(CheckpointRow.plan_id == plan_id)
        rows = self._session.execute(query.order_by(CheckpointRow.position))
        return [TimelineRow(*row) for row in rows]

    def ids_with_state(self, plan_id: PlanId) -> dict[CheckpointId, CheckpointState]:
        query = select(CheckpointRow.checkpoint_id, CheckpointRow.state)
        rows = self._session.execute(query.where(CheckpointRow.plan_id == plan_id))
        return {row.checkpoint_id: row.state for row in rows}

    def count_live_complete(self, plan_id: PlanId) -> int:
        return self.counts(plan_id)["live"]

    def counts(self, plan_id: PlanId) -> dict[str, int]:
        """How many are in each state, and how many complete ones are live and superseded."""
        live = CheckpointRow.superseded_by.is_(None)
        query = select(CheckpointRow.state, live, func.count()).group_by(CheckpointRow.state, live)
        counts = {state.value: 0 for state in CheckpointState} | {"live": 0, "superseded": 0}
        rows = self._session.execute(query.where(CheckpointRow.plan_id == plan_id))
        for state, is_live, number in rows:
            counts[state] += number
            if state is CheckpointState.COMPLETE:
                counts["live" if is_live else "superseded"] += number
        return counts

    def list(
        self, plan_id: PlanId, *, include_superseded: bool, include_tombstones: bool
    ) -> Checkpoints:
        """Oldest first; without tombstones only those that are complete or damaged."""
        query = self._of(plan_id)
        if not include_superseded:
            query = query.where(CheckpointRow.superseded_by.is_(None))
        if not include_tombstones:
            query = query.where(CheckpointRow.state.in_(_SHOWN))
        return self._all(query.order_by(CheckpointRow.position))

    def _live(self, plan_id: PlanId) -> Select[CheckpointRow]:
        query = self._of(plan_id).where(
            CheckpointRow.state == CheckpointState.COMPLETE, CheckpointRow.superseded_by.is_(None)
        )
        return query.order_by(CheckpointRow.position.desc())


def change_state(row: CheckpointRow, state: CheckpointState, note: str | None = None) -> None:
    row.state = state
    added = {} if note is None else {"failure": note}
    if state in _GONE and row.label is not None:
        added["released_label"] = row.label
        row.label = None
    if added:
        row.metadata_json = {**row.metadata_json, **added}
