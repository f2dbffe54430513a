"""Epochs of plans; what is live follows from them in the domain."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from backtrail.domain.ids import PlanId
from backtrail.domain.timeline import Epoch, Lineage, lineage_of
from backtrail.storage.rows.mapping import EPOCHS
from backtrail.storage.rows.tables import EpochRow


class EpochRepository:
    """Epochs of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def all(self, plan_id: PlanId) -> dict[int, Epoch]:
        """By number, as `lineage_of` wants them."""
        rows = self._session.scalars(select(EpochRow).where(EpochRow.plan_id == plan_id))
        return {row.epoch: EPOCHS.value_of(row) for row in rows}

    def lineage(self, plan_id: PlanId, number: int) -> Lineage:
        """The lineage that ends in one epoch: what is live follows from that of the current one."""
        return lineage_of(number, self.all(plan_id))

    def add(self, epoch: Epoch) -> None:
        self._session.add(EPOCHS.row_of(epoch))
        self._session.flush()
