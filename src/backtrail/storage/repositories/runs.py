"""Runs: admitting, finding, renewing and ending them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict, Unpack

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from backtrail.domain.ids import CheckpointId, DecisionId, PlanId, RunId
from backtrail.domain.run import LIVE_STATUSES, AbortAction, Lease, Run, RunStatus
from backtrail.storage.repositories.base import Repository
from backtrail.storage.rows.mapping import RUNS, Origin
from backtrail.storage.rows.tables import RunRow

Runs = list[Run]
"""`list` is a method below, which hides the type of that name."""


class RunChanges(TypedDict, total=False):
    """What may change in a run once it is admitted."""

    status: RunStatus
    fence: int
    holder: str
    host_id: str
    command: str | None
    lease: Lease
    position: int
    epoch: int
    decision_id: DecisionId | None
    pre_checkpoint_id: CheckpointId | None
    post_checkpoint_id: CheckpointId | None
    abort_action: AbortAction | None
    exit_code: int | None
    started_at: datetime
    ended_at: datetime
    result: Mapping[str, Any]


class RunRepository(Repository[RunRow, Run, RunId]):
    """Runs of one transaction."""

    def __init__(self, session: Session, origin: Origin) -> None:
        super().__init__(session, RUNS, RunRow.run_id)
        self._origin = origin

    def add(self, run: Run) -> None:
        """The database refuses a second live run of a plan."""
        live = run.plan_id if run.live else None
        self._insert(run, store_id=self._origin.store_id, live_plan_id=live)

    def get(self, run_id: RunId) -> Run | None:
        row = self._session.get(RunRow, run_id, populate_existing=True)
        return None if row is None else RUNS.value_of(row)

    def live(self, plan_id: PlanId) -> Run | None:
        """The one run of the plan that has not ended."""
        return self._first(select(RunRow).where(RunRow.live_plan_id == plan_id))

    def next_number(self, plan_id: PlanId) -> int:
        return self._next(RunRow.number, plan_id)

    def next_fence(self, plan_id: PlanId) -> int:
        return self._next(RunRow.fence, plan_id)

    def by_number(self, plan_id: PlanId, number: int) -> Run | None:
        return self._first(self._of(plan_id).where(RunRow.number == number))

    def carrying(self, decision_id: DecisionId) -> Runs:
        """Runs that have the id of a decision, oldest first."""
        query = select(RunRow).where(RunRow.decision_id == decision_id)
        return self._all(query.order_by(RunRow.number))

    def list(self, plan_id: PlanId, limit: int | None = None) -> Runs:
        """Newest first."""
        return self._all(self._of(plan_id).order_by(RunRow.number.desc()).limit(limit))

    def update(self, run_id: RunId, **changes: Unpack[RunChanges]) -> Run:
        """The run as it is now; one that has ended no longer stands in another's way."""
        row = self._row(run_id)
        RUNS.assign(row, changes)
        row.live_plan_id = row.plan_id if row.status in LIVE_STATUSES else None
        self._session.flush()
        return RUNS.value_of(row)

    def places(self, plan_id: PlanId) -> dict[RunId, tuple[int, int]]:
        """Epoch and position of each run that was started."""
        query = select(RunRow.run_id, RunRow.epoch, RunRow.position).where(
            RunRow.plan_id == plan_id, RunRow.position.is_not(None)
        )
        return {
            run: (epoch, position)
            for run, epoch, position in self._session.execute(query)
            if epoch is not None and position is not None
        }

    def count_after(self, plan_id: PlanId, position: int) -> int:
        """How many runs were started after a place of the plan's; an index alone answers this."""
        query = select(func.count()).where(RunRow.plan_id == plan_id, RunRow.position > position)
        return self._session.scalar(query) or 0
