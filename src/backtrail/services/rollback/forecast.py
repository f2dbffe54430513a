"""What a rollback would leave on the timeline, pruning included: for dry runs that are exact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointType
from backtrail.domain.ids import CheckpointId, DecisionId, OperationId
from backtrail.domain.operation import OperationKind, Stacks
from backtrail.domain.retention import Protected, RetentionRow, decide
from backtrail.services.retention.effective import retention_of
from backtrail.services.retention.needed import WayBack, live_decisions, protection, way_back

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import TreeId
    from backtrail.domain.plan import Plan
    from backtrail.domain.timeline import Lineage
    from backtrail.services.session.context import Workspace
    from backtrail.services.session.journal import Entry
    from backtrail.storage.database import UnitOfWork


# Ids that sort after all others and that nothing else has.
_THIS = OperationId("this operation")
_SAFETY = CheckpointId("the safety checkpoint to come")
_RESULT = CheckpointId("the result to come")
_CORRECTIVE = DecisionId("what a revert would put in the place of a decision")


@dataclass(frozen=True, slots=True)
class Outlook:
    """An order that is not carried out, and the files that its two checkpoints would hold."""

    entry: Entry
    target: Checkpoint
    safety_tree: TreeId
    result_tree: TreeId


def live_after(
    workspace: Workspace, uow: UnitOfWork, plan: Plan, outlook: Outlook, lineage: Lineage
) -> int:
    """How many complete checkpoints would be live, once pruning has followed."""
    now, retention = workspace.now(), retention_of(workspace, plan)
    coming = _coming(plan, outlook, lineage, now)
    rows = [*uow.pruning.candidates(plan.plan_id), *coming]
    rows = [replace(row, live=lineage.contains(row.epoch, row.position)) for row in rows]
    if retention.problem:
        return sum(row.live for row in rows)
    stacks = _stacks_then(uow, plan, outlook.entry, retention.policy.undo_depth)
    protected = _protection_then(uow, plan, outlook, lineage, rows, stacks)
    decision = decide(rows, retention.policy, protected, now)
    return sum(entry.checkpoint.live for entry in decision.kept)


def _coming(
    plan: Plan, outlook: Outlook, lineage: Lineage, now: datetime
) -> tuple[RetentionRow, RetentionRow]:
    safety = RetentionRow(
        checkpoint_id=_SAFETY,
        seq=0,
        position=plan.position + 1,
        epoch=plan.current_epoch,
        checkpoint_type=CheckpointType.PRE_ROLLBACK,
        sandbox_ref=None,
        live=False,
        pinned=False,
        verified_green=False,
        decision_id=None,
        created_at=now,
        size_bytes=None,
        label=None,
        tree=outlook.safety_tree,
    )
    result = replace(
        safety,
        checkpoint_id=_RESULT,
        position=plan.position + 2,
        epoch=lineage.epoch,
        checkpoint_type=CheckpointType.ROLLBACK,
        decision_id=_CORRECTIVE if outlook.entry.kind is OperationKind.REVERT else None,
        tree=outlook.result_tree,
    )
    return safety, result


def _protection_then(
    uow: UnitOfWork,
    plan: Plan,
    outlook: Outlook,
    lineage: Lineage,
    rows: Sequence[RetentionRow],
    stacks: Stacks,
) -> Protected:
    operations = {o.operation_id: o for o in uow.operations.stacked(plan.plan_id)}
    ways = [way_back(operations[i]) for i in (*stacks.undo, *stacks.redo) if i in operations]
    if _THIS in (*stacks.undo, *stacks.redo):
        whole = not outlook.entry.paths
        ways.append(WayBack(_SAFETY, outlook.target.checkpoint_id, moves_timeline=whole))
    decisions = {**live_decisions(uow, plan, lineage), _CORRECTIVE: plan.position + 3}
    steps = uow.steps.ledger(plan.plan_id, lineage).pending
    return protection(ways, rows, uow.epochs.all(plan.plan_id), decisions, steps)


def _stacks_then(uow: UnitOfWork, plan: Plan, entry: Entry, depth: int) -> Stacks:
    stacks = uow.operations.stacks(plan.plan_id)
    taken_back = entry.entry_operation_id
    if taken_back is None:
        return stacks.restoring(_THIS, depth=depth)
    if entry.kind is OperationKind.REDO:
        return stacks.redone(_THIS, taken_back, depth=depth)
    operation = uow.operations.get(taken_back)
    return stacks.undone(_THIS, taken_back, entry_failed=operation is None or operation.failed)
