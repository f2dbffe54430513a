"""Corrections of decisions."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backtrail.domain.correction import Correction
from backtrail.domain.ids import CorrectionId, PlanId
from backtrail.storage.rows.mapping import correction_of, correction_row
from backtrail.storage.rows.tables import CorrectionRow


class CorrectionRepository:
    """Corrections of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, correction: Correction) -> None:
        self._session.add(correction_row(correction))
        self._session.flush()

    def newest_id(self, plan_id: PlanId) -> CorrectionId | None:
        """The largest id of the plan, which the next one must exceed."""
        query = select(func.max(CorrectionRow.correction_id))
        return self._session.scalar(query.where(CorrectionRow.plan_id == plan_id))

    def list(self, plan_id: PlanId) -> list[Correction]:
        """All of them, oldest first; also those that an undo has taken back."""
        query = select(CorrectionRow).where(CorrectionRow.plan_id == plan_id)
        rows = self._session.scalars(query.order_by(CorrectionRow.correction_id))
        return [correction_of(row) for row in rows]
