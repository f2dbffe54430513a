"""Decisions: recording, placing and finding them; what is live follows from the lineage."""

from collections.abc import Iterator

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from backtrail.domain.checkpoint import Checkpoint
from backtrail.domain.decision import Decision
from backtrail.domain.errors import NotFoundError
from backtrail.domain.ids import DecisionId, PlanId
from backtrail.domain.timeline import Lineage
from backtrail.storage.repositories.prefixes import starts_with
from backtrail.storage.rows.mapping import checkpoint_of, decision_of, decision_row
from backtrail.storage.rows.tables import CheckpointRow, DecisionRow, PlanRow

Found = list[Decision]
"""`list` is a method below, which hides the type of that name."""


class DecisionRepository:
    """Decisions of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, decision: Decision) -> None:
        self._session.add(decision_row(decision))
        self._session.flush()

    def place(self, decision_id: DecisionId, *, epoch: int, position: int) -> None:
        """Put it on a timeline: from here on it holds."""
        row = self._session.get(DecisionRow, decision_id)
        if row is None:
            raise NotFoundError(f"there is no decision {decision_id}")
        row.epoch = epoch
        row.position = position
        self._session.flush()

    def next_seq(self, plan_id: PlanId) -> int:
        query = select(func.max(DecisionRow.seq)).where(DecisionRow.plan_id == plan_id)
        return (self._session.scalar(query) or 0) + 1

    def newest_id(self, plan_id: PlanId) -> DecisionId | None:
        """The largest id of the plan, which the next one must exceed."""
        query = select(func.max(DecisionRow.decision_id))
        return self._session.scalar(query.where(DecisionRow.plan_id == plan_id))

    def get(self, plan_id: PlanId, decision_id: DecisionId) -> Decision | None:
        return self._first(_of(plan_id).where(DecisionRow.decision_id == decision_id))

    def by_seq(self, plan_id: PlanId, seq: int) -> Decision | None:
        return self._first(_of(plan_id).where(DecisionRow.seq == seq))

    def by_prefix(self, plan_id: PlanId, prefix: str, limit: int) -> Found:
        """Decisions whose id begins so, oldest first."""
        query = _of(plan_id).where(starts_with(DecisionRow.decision_id, prefix))
        return self._all(query.order_by(DecisionRow.decision_id).limit(limit))

    def by_id_any_plan(self, repository_id: str, prefix: str) -> Decision | None:
        """A decision of any plan of the repository whose id is, or begins with, the prefix."""
        query = (
            select(DecisionRow)
            .join(PlanRow, PlanRow.plan_id == DecisionRow.plan_id)
            .where(PlanRow.repository_id == repository_id)
            .where(starts_with(DecisionRow.decision_id, prefix))
        )
        return self._first(query.order_by(DecisionRow.decision_id).limit(1))

    def list(self, plan_id: PlanId) -> Found:
        """All of them, oldest first."""
        return self._all(_of(plan_id).order_by(DecisionRow.seq))

    def places(self, plan_id: PlanId) -> dict[DecisionId, tuple[int, int]]:
        """Epoch and position of each decision that is on a timeline, by its id; newest first."""
        return dict(self._placed(plan_id))

    def newest_in(self, plan_id: PlanId, lineage: Lineage) -> DecisionId | None:
        """The decision that a lineage has last: the current one, of the current lineage."""
        return next((d for d, place in self._placed(plan_id) if lineage.contains(*place)), None)

    def own_checkpoints(self, plan_id: PlanId) -> dict[DecisionId, Checkpoint]:
        """The checkpoint of each: it carries the decision's id and stands before it."""
        query = (
            select(CheckpointRow)
            .join(DecisionRow, DecisionRow.decision_id == CheckpointRow.decision_id)
            .where(DecisionRow.plan_id == plan_id, CheckpointRow.position < DecisionRow.position)
        )
        found = map(checkpoint_of, self._session.scalars(query.order_by(CheckpointRow.position)))
        return {c.decision_id: c for c in found if c.decision_id}

    def _placed(self, plan_id: PlanId) -> Iterator[tuple[DecisionId, tuple[int, int]]]:
        query = select(DecisionRow.decision_id, DecisionRow.epoch, DecisionRow.position).where(
            DecisionRow.plan_id == plan_id, DecisionRow.position.is_not(None)
        )
        rows = self._session.execute(query.order_by(DecisionRow.position.desc()))
        for decision, epoch, position in rows:
            if epoch is not None and position is not None:
                yield decision, (epoch, position)

    def _all(self, query: Select[DecisionRow]) -> Found:
        return [decision_of(row) for row in self._session.scalars(query)]

    def _first(self, query: Select[DecisionRow]) -> Decision | None:
        return next(iter(self._all(query)), None)


def _of(plan_id: PlanId) -> Select[DecisionRow]:
    return select(DecisionRow).where(DecisionRow.plan_id == plan_id)
