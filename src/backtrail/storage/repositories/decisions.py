"""Decisions: recording, placing and finding them; what is live follows from the lineage."""

from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from backtrail.domain.checkpoint import Checkpoint
from backtrail.domain.decision import Decision
from backtrail.domain.ids import DecisionId, PlanId
from backtrail.domain.timeline import Lineage
from backtrail.storage.repositories.base import Repository
from backtrail.storage.rows.mapping import CHECKPOINTS, DECISIONS
from backtrail.storage.rows.tables import CheckpointRow, DecisionRow

Found = list[Decision]
"""`list` is a method below, which hides the type of that name."""


class DecisionRepository(Repository[DecisionRow, Decision, DecisionId]):
    """Decisions of one transaction."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, DECISIONS, DecisionRow.decision_id)

    def add(self, decision: Decision) -> None:
        self._insert(decision)

    def place(self, decision_id: DecisionId, *, epoch: int, position: int) -> None:
        """Put it on a timeline: from here on it holds."""
        self._change(decision_id, epoch=epoch, position=position)

    def next_seq(self, plan_id: PlanId) -> int:
        return self._next(DecisionRow.seq, plan_id)

    def get(self, plan_id: PlanId, decision_id: DecisionId) -> Decision | None:
        return self._first(self._of(plan_id).where(DecisionRow.decision_id == decision_id))

    def by_seq(self, plan_id: PlanId, seq: int) -> Decision | None:
        return self._first(self._of(plan_id).where(DecisionRow.seq == seq))

    def list(self, plan_id: PlanId) -> Found:
        """All of them, oldest first."""
        return self._all(self._of(plan_id).order_by(DecisionRow.seq))

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
        found = map(
            CHECKPOINTS.value_of, self._session.scalars(query.order_by(CheckpointRow.position))
        )
        return {c.decision_id: c for c in found if c.decision_id}

    def _placed(self, plan_id: PlanId) -> Iterator[tuple[DecisionId, tuple[int, int]]]:
        query = select(DecisionRow.decision_id, DecisionRow.epoch, DecisionRow.position).where(
            DecisionRow.plan_id == plan_id, DecisionRow.position.is_not(None)
        )
        rows = self._session.execute(query.order_by(DecisionRow.position.desc()))
        for decision, epoch, position in rows:
            if epoch is not None and position is not None:
                yield decision, (epoch, position)
