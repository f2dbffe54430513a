"""StepService: which steps a plan has, which of them hold, and what they printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.services.lease import is_held
from backtrail.services.steps.records import ledger_now

if TYPE_CHECKING:
    from backtrail.domain.ids import PlanId
    from backtrail.domain.ledger import StepEntry, StepStatus
    from backtrail.domain.plan import Plan
    from backtrail.services.session.context import Workspace


@dataclass(frozen=True, slots=True)
class ListedStep:
    entry: StepEntry
    status: StepStatus


@dataclass(frozen=True, slots=True)
class StepListing:
    """The steps of a plan, in the order in which they began."""

    plan: Plan
    steps: tuple[ListedStep, ...]


class StepService:
    """The steps of the plans of one repository."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list_steps(self, plan: PlanId, *, live_only: bool = False) -> StepListing:
        """All steps, also those that a rollback or a change took off the timeline."""
        with self._workspace.database.read() as uow:
            row = uow.plans.get(plan)
            ledger, run = ledger_now(uow, row), uow.runs.live(plan)
        alive = run is not None and is_held(self._workspace, run)
        active = (run.run_id,) if run and alive else ()
        entries = ledger.valid if live_only else ledger.entries
        return StepListing(row, tuple(ListedStep(e, e.status(active)) for e in entries))
