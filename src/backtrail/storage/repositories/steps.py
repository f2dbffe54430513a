"""Steps and their marks; which of them hold follows from the lineage in the domain."""

from collections.abc import Iterable

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from backtrail.domain.ids import DecisionId, MarkId, PlanId
from backtrail.domain.ledger import Ledger, ledger_of
from backtrail.domain.step import Mark, OutputState, Result, Step, StepName
from backtrail.domain.timeline import Lineage
from backtrail.storage.rows.tables import StepMarkRow, StepRow


class StepRepository:
    """Steps of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, step: Step) -> None:
        self._session.add(
            StepRow(
                step_id=step.step_id,
                plan_id=step.plan_id,
                key=step.name.key,
                ordinal=step.name.ordinal,
                digest=step.digest,
                command_json=step.command,
                directory=step.directory,
                decision_id=step.decision_id,
            )
        )
        self._session.flush()

    def append(self, plan_id: PlanId, mark: Mark) -> None:
        """One more mark; none is ever changed or taken away."""
        self._session.add(_mark_row(plan_id, mark))
        self._session.flush()

    def ledger(self, plan_id: PlanId, lineage: Lineage) -> Ledger:
        """All steps of the plan, as the lineage has them."""
        rows = self._session.scalars(select(StepRow).where(StepRow.plan_id == plan_id)).all()
        # Most plans have none, and then no more need be asked.
        marks = self.marks(plan_id) if rows else ()
        return ledger_of(map(_step, rows), marks, lineage)

    def carrying(self, decision_id: DecisionId) -> list[Step]:
        """Steps that have the id of a decision, oldest first."""
        query = select(StepRow).where(StepRow.decision_id == decision_id)
        return [_step(row) for row in self._session.scalars(query.order_by(StepRow.step_id))]

    def marks(self, plan_id: PlanId) -> list[Mark]:
        """All marks of the plan by position."""
        query = select(StepMarkRow).where(StepMarkRow.plan_id == plan_id)
        return [_mark(row) for row in self._session.scalars(query.order_by(StepMarkRow.position))]

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


def _step(row: StepRow) -> Step:
    return Step(
        step_id=row.step_id,
        plan_id=row.plan_id,
        name=StepName(row.key, row.ordinal),
        digest=row.digest,
        command=row.command_json,
        directory=row.directory,
        decision_id=row.decision_id,
    )


def _mark(row: StepMarkRow) -> Mark:
    return Mark(
        mark_id=row.mark_id,
        step_id=row.step_id,
        kind=row.kind,
        epoch=row.epoch,
        position=row.position,
        at=row.at,
        run_id=row.run_id,
        attempt_id=row.attempt_id,
        result=_result(row),
    )


def _result(row: StepMarkRow) -> Result | None:
    if row.outcome is None:
        return None
    return Result(
        outcome=row.outcome,
        exit_code=row.exit_code,
        value=row.value_json or {},
        output=row.output or OutputState.NONE,
        output_bytes=row.output_bytes or 0,
    )


def _mark_row(plan_id: PlanId, mark: Mark) -> StepMarkRow:
    result = mark.result
    return StepMarkRow(
        mark_id=mark.mark_id,
        plan_id=plan_id,
        step_id=mark.step_id,
        kind=mark.kind,
        epoch=mark.epoch,
        position=mark.position,
        run_id=mark.run_id,
        attempt_id=mark.attempt_id,
        outcome=result.outcome if result else None,
        exit_code=result.exit_code if result else None,
        value_json=(dict(result.value) or None) if result else None,
        output=result.output if result else None,
        output_bytes=result.output_bytes if result else None,
        at=mark.at,
    )
