"""Dropping recorded output beyond the limit, after a checkpoint has completed and never before.

The rows say first that the output is gone, then the files go; what a crash leaves in between is
swept away when the next step starts. Exit codes, digests and results stay as long as the plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.lineage import lineage_of
from backtrail.domain.step_output import outputs_to_drop
from backtrail.services.step_outputs import OutputShelf

if TYPE_CHECKING:
    from backtrail.domain.step import Mark
    from backtrail.services.workspace import LockedSandbox
    from backtrail.storage.database import UnitOfWork


def keep_outputs_within_limit(locked: LockedSandbox) -> None:
    """Drop the oldest output that the newest checkpoint covers, as far as there is too much."""
    ws, plan_id = locked.workspace, locked.plan.plan_id
    limit = ws.settings.steps.max_output_bytes
    with ws.database.read() as uow:
        if uow.steps.kept_output_bytes(plan_id) <= limit:
            return
    with ws.database.write() as uow:
        going = _going(uow, locked, limit)
        if not going:
            return
        uow.steps.forget_outputs(mark.mark_id for mark in going)
    ws.failpoints.reach("outputs.forgotten")
    shelf = OutputShelf.of(ws.layout.home, plan_id)
    shelf.discard(mark.attempt_id for mark in going if mark.attempt_id)
    ws.failpoints.reach("outputs.dropped")


def _going(uow: UnitOfWork, locked: LockedSandbox, limit: int) -> list[Mark]:
    plan = uow.plans.lock(locked.plan.plan_id)
    newest = uow.checkpoints.latest(plan.plan_id)
    if newest is None:
        return []
    lineage = lineage_of(plan.current_epoch, uow.epochs.all(plan.plan_id))
    pending = uow.steps.ledger(plan.plan_id, lineage).pending
    return outputs_to_drop(
        uow.steps.marks(plan.plan_id),
        limit=limit,
        lineage=lineage,
        covered_until=newest.position,
        in_flight={entry.step.step_id for entry in pending},
    )
