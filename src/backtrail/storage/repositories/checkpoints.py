"""Checkpoints: announcing, completing, finding and marking them; order is always by position."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session

from backtrail.domain.checkpoint import Checkpoint, CheckpointState
from backtrail.domain.errors import NotFoundError
from backtrail.domain.ids import CheckpointId, CommitId, DecisionId, OperationId, PlanId
from backtrail.domain.timeline import TimelineRow
from backtrail.storage.repositories.prefixes import starts_with
from backtrail.storage.rows.mapping import Origin, checkpoint_of, checkpoint_row
from backtrail.storage.rows.tables import CheckpointRow, PlanRow

CheckpointQuery = Select[CheckpointRow]
Checkpoints = list[Checkpoint]
"""`list` is a method below, which hides the type of that name."""

_NEVER_TAKEN = (CheckpointState.CREATING, CheckpointState.FAILED)
_SHOWN = (CheckpointState.COMPLETE, CheckpointState.DAMAGED)
_GONE = (CheckpointState.FAILED, CheckpointState.PRUNED)


class CheckpointRepository:
    """Checkpoints of one transaction."""

    def __init__(self, session: Session, origin: Origin) -> None:
        self._session = session
        self._origin = origin

    def announce(self, checkpoint: Checkpoint, *, operation_id: OperationId | None) -> None:
        """Insert the row as it is given, with the operation that asked for it."""
        self._session.add(checkpoint_row(checkpoint, self._origin, operation_id))
        self._session.flush()

    def next_seq(self, plan_id: PlanId) -> int:
        query = select(func.max(CheckpointRow.seq)).where(CheckpointRow.plan_id == plan_id)
        return (self._session.scalar(query) or 0) + 1

    def newest_id(self, plan_id: PlanId) -> CheckpointId | None:
        """The largest id of the plan, which the next one must exceed."""
        query = select(func.max(CheckpointRow.checkpoint_id))
        return self._session.scalar(query.where(CheckpointRow.plan_id == plan_id))

    def get(self, checkpoint_id: CheckpointId) -> Checkpoint | None:
        row = self._session.get(CheckpointRow, checkpoint_id)
        return None if row is None else checkpoint_of(row)

    def by_seq(self, plan_id: PlanId, seq: int) -> Checkpoint | None:
        return self._first(_of(plan_id).where(CheckpointRow.seq == seq))

    def by_label(self, plan_id: PlanId, label: str) -> Checkpoint | None:
        return self._first(_of(plan_id).where(CheckpointRow.label == label))

    def by_prefix(self, plan_id: PlanId, prefix: str, limit: int) -> Checkpoints:
        """Checkpoints whose id begins so, oldest first."""
        query = _of(plan_id).where(starts_with(CheckpointRow.checkpoint_id, prefix))
        return self._all(query.order_by(CheckpointRow.checkpoint_id).limit(limit))

    def by_id_any_plan(self, repository_id: str, prefix: str) -> Checkpoint | None:
        """A checkpoint of any plan of the repository whose id is, or begins with, the prefix."""
        query = (
            select(CheckpointRow)
            .join(PlanRow, PlanRow.plan_id == CheckpointRow.plan_id)
            .where(PlanRow.repository_id == repository_id)
            .where(starts_with(CheckpointRow.checkpoint_id, prefix))
        )
        return self._first(query.order_by(CheckpointRow.checkpoint_id).limit(1))

    def carrying(self, decision_id: DecisionId) -> Checkpoints:
        """Those that have the id of a decision and were taken, oldest first."""
        query = select(CheckpointRow).where(
            CheckpointRow.decision_id == decision_id, CheckpointRow.state.not_in(_NEVER_TAKEN)
        )
        return self._all(query.order_by(CheckpointRow.position))

    def first(self, plan_id: PlanId) -> Checkpoint | None:
        """The oldest one ever taken, also if it is gone: `first` must not drift to another."""
        query = _of(plan_id).where(CheckpointRow.state.not_in(_NEVER_TAKEN))
        return self._first(query.order_by(CheckpointRow.position).limit(1))

    def latest(self, plan_id: PlanId) -> Checkpoint | None:
        return self._first(_live(plan_id).limit(1))

    def last_green(self, plan_id: PlanId) -> Checkpoint | None:
        return self._first(_live(plan_id).where(CheckpointRow.verified_green).limit(1))

    def live(self, plan_id: PlanId, *, newest: int | None = None, offset: int = 0) -> Checkpoints:
        """Live complete ones, newest first."""
        return self._all(_live(plan_id).limit(newest).offset(offset))

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
        row = self._row(checkpoint_id)
        row.state = CheckpointState.COMPLETE
        row.sandbox_ref = sandbox_ref
        row.size_bytes = size_bytes
        row.metadata_json = dict(metadata)
        row.superseded_by = superseded_by
        self._session.flush()

    def set_state(
        self, checkpoint_id: CheckpointId, state: CheckpointState, *, note: str | None = None
    ) -> None:
        """Change the state; the note says why and is kept in the metadata.

        What failed or was pruned gives its label free for another, and remembers it.
        """
        change_state(self._row(checkpoint_id), state, note)
        self._session.flush()

    def set_label(self, checkpoint_id: CheckpointId, label: str | None) -> None:
        self._row(checkpoint_id).label = label
        self._session.flush()

    def set_last_step(self, checkpoint_id: CheckpointId, key: str) -> None:
        self._row(checkpoint_id).last_completed_step = key
        self._session.flush()

    def set_pinned(self, checkpoint_id: CheckpointId, *, pinned: bool) -> None:
        self._row(checkpoint_id).pinned = pinned
        self._session.flush()

    def set_green(self, checkpoint_id: CheckpointId) -> None:
        """A check of the user's passed on what it holds."""
        self._row(checkpoint_id).verified_green = True
        self._session.flush()

    def set_decision(self, checkpoint_id: CheckpointId, decision_id: DecisionId) -> None:
        self._row(checkpoint_id).decision_id = decision_id
        self._session.flush()

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
        query = select(
            CheckpointRow.checkpoint_id,
            CheckpointRow.epoch,
            CheckpointRow.position,
            CheckpointRow.superseded_by,
            CheckpointRow.state,
            CheckpointRow.checkpoint_type,
        ).where(CheckpointRow.plan_id == plan_id)
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
        query = _of(plan_id)
        if not include_superseded:
            query = query.where(CheckpointRow.superseded_by.is_(None))
        if not include_tombstones:
            query = query.where(CheckpointRow.state.in_(_SHOWN))
        return self._all(query.order_by(CheckpointRow.position))

    def _row(self, checkpoint_id: CheckpointId) -> CheckpointRow:
        row = self._session.get(CheckpointRow, checkpoint_id)
        if row is None:
            raise NotFoundError(f"there is no checkpoint {checkpoint_id}")
        return row

    def _all(self, query: CheckpointQuery) -> Checkpoints:
        return [checkpoint_of(row) for row in self._session.scalars(query)]

    def _first(self, query: CheckpointQuery) -> Checkpoint | None:
        return next(iter(self._all(query)), None)


def change_state(row: CheckpointRow, state: CheckpointState, note: str | None = None) -> None:
    row.state = state
    added = {} if note is None else {"failure": note}
    if state in _GONE and row.label is not None:
        added["released_label"] = row.label
        row.label = None
    if added:
        row.metadata_json = {**row.metadata_json, **added}


def _of(plan_id: PlanId) -> CheckpointQuery:
    return select(CheckpointRow).where(CheckpointRow.plan_id == plan_id)


def _live(plan_id: PlanId) -> CheckpointQuery:
    query = _of(plan_id).where(
        CheckpointRow.state == CheckpointState.COMPLETE, CheckpointRow.superseded_by.is_(None)
    )
    return query.order_by(CheckpointRow.position.desc())
