"""Steps and their marks; which of them hold follows from the lineage in the domain."""

from collections.abc import Iterable

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backtrail.domain.ids import DecisionId, MarkId, PlanId
from backtrail.domain.ledger import Ledger, ledger_of
from backtrail.domain.step import Mark, OutputState, Step
from backtrail.domain.timeline import Lineage
from backtrail.storage.rows.mapping import MARKS, STEPS
from backtrail.storage.rows.tables import StepMarkRow, StepRow


class StepRepository:
    """Steps of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, step: Step) -> None:
        self._session.add(STEPS.row_of(step))
        self._session.flush()

    def append(self, plan_id: PlanId, mark: Mark) -> None:
        """One more mark; none is ever changed or taken away."""
        self._session.add(MARKS.row_of(mark, plan_id=plan_id))
        self._session.flush()

    def ledger(self, plan_id: PlanId, lineage: Lineage) -> Ledger:
        """All steps of the plan, as the lineage has them."""
        rows = self._session.scalars(select(StepRow).where(StepRow.plan_id == plan_id)).all()
        # Most plans have none, and then no more need be asked.
        marks = self.marks(plan_id) if rows else ()
        return ledger_of(map(STEPS.value_of, rows), marks, lineage)

    def carrying(self, decision_id: DecisionId) -> list[Step]:
        """Steps that have the id of a decision, oldest first."""
        query = select(StepRow).where(StepRow.decision_id == decision_id)
        return [
            STEPS.value_of(row) for row in self._session.scalars(query.order_by(StepRow.step_id))
        ]

    def marks(self, plan_id: PlanId) -> list[Mark]:
        """All marks of the plan by position."""
        query = select(StepMarkRow).where(StepMarkRow.plan_id == plan_id)
        return [
            MARKS.value_of(row)
            for row in self._session.scalars(query.order_by(StepMarkRow.position))
        ]

    def kept_output_bytes(self, plan_id: PlanId) -> int:
        """What the output of the plan's steps takes; asked after every checkpoint."""
        query = select(func.sum(StepMarkRow.output_bytes)).where(
            StepMarkRow.plan_id == plan_id, StepMarkRow.output == OutputState.KEPT
        )
        return int(self._session.scalar(query) or 0)

    def forget_outputs(self, marks: Iterable[MarkId]) -> None:
        """From here on the output of these completions is gone."""
        changes = [{"mark_id": mark, "output": OutputState.PRUNED} for mark in marks]
        self._session.execute(update(StepMarkRow), changes)
        self._session.expire_all()
