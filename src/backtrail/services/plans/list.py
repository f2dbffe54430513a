"""Many plans at a glance; what is costly is done only when asked for, and side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.domain.errors import BacktrailError
from backtrail.domain.plan import PlanOrder, PlanState, in_order
from backtrail.git.checkpoint.commit import read_checkpoint
from backtrail.git.compare.states import changes_between

if TYPE_CHECKING:
    from collections.abc import Collection

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.plan import PlanSummary
    from backtrail.services.session.context import Workspace


_AT_ONCE = 4
"""Looking at a sandbox is mostly git's work, several processes of it for each."""


def plan_overview(
    ws: Workspace,
    *,
    states: Collection[PlanState] = (),
    include_removed: bool = False,
    order: PlanOrder = PlanOrder.ACTIVITY,
    count_changes: bool = False,
) -> list[PlanSummary]:
    """The plans of a repository; with `count_changes` every sandbox is looked at."""
    removed = include_removed or PlanState.REMOVED in states
    with ws.database.read() as uow:
        found = uow.plans.summaries(ws.repository_id, include_removed=removed)
        wanted = [p for p in found if not states or p.plan.state in states]
        plans = [replace(p, present=_present(p)) for p in in_order(wanted, order)]
        asked = plans if count_changes else []
        latest = {p.plan.plan_id: uow.checkpoints.latest(p.plan.plan_id) for p in asked}
    if not count_changes:
        return plans

    def counted(summary: PlanSummary) -> PlanSummary:
        return _with_changes(ws, summary, latest[summary.plan.plan_id])

    ws.progress(f"looking at {len(plans)} sandboxes")
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(counted, plans))


def _present(summary: PlanSummary) -> bool:
    return (summary.plan.sandbox.path / ".git").exists()


def _with_changes(ws: Workspace, summary: PlanSummary, latest: Checkpoint | None) -> PlanSummary:
    if summary.plan.state is PlanState.REMOVED or latest is None or latest.sandbox_ref is None:
        return summary
    try:
        then = read_checkpoint(ws.store, latest.sandbox_ref).captured
        now = ws.camera(ws.located(summary.plan)).peek()
        return replace(summary, changed_files=len(changes_between(ws.store, then, now)))
    except BacktrailError:
        # `plan status` says what is wrong with it; a list of forty must not fail for one.
        return replace(summary, present=False)
