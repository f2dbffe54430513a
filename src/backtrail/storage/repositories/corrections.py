"""Corrections of decisions."""

from sqlalchemy.orm import Session

from backtrail.domain.correction import Correction
from backtrail.domain.ids import CorrectionId, PlanId
from backtrail.storage.repositories.base import Repository
from backtrail.storage.rows.mapping import CORRECTIONS
from backtrail.storage.rows.tables import CorrectionRow


class CorrectionRepository(Repository[CorrectionRow, Correction, CorrectionId]):
    """Corrections of one transaction."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, CORRECTIONS, CorrectionRow.correction_id)

    def add(self, correction: Correction) -> None:
        self._insert(correction)

    def list(self, plan_id: PlanId) -> list[Correction]:
        """All of them, oldest first; also those that an undo has taken back."""
        return self._all(self._of(plan_id).order_by(CorrectionRow.correction_id))
