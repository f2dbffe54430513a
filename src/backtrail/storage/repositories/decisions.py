"""Decisions, as far as checkpoints and rollbacks need to know of them."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from backtrail.domain.ids import DecisionId, PlanId
from backtrail.storage.tables import DecisionRow


class DecisionRepository:
    """Decisions of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def exists(self, plan_id: PlanId, decision_id: DecisionId) -> bool:
        row = self._session.get(DecisionRow, decision_id)
        return row is not None and row.plan_id == plan_id

    def places(self, plan_id: PlanId) -> dict[DecisionId, tuple[int, int]]:
        """Epoch and position of each decision that is on a timeline, by its id."""
        query = select(DecisionRow.decision_id, DecisionRow.epoch, DecisionRow.position).where(
            DecisionRow.plan_id == plan_id, DecisionRow.position.is_not(None)
        )
        return {
            decision: (epoch, position)
            for decision, epoch, position in self._session.execute(query)
            if epoch is not None and position is not None
        }
