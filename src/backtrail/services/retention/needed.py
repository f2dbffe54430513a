"""What retention must spare: all that undo, redo, an operation, a run or a decision needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from backtrail.domain.retention import KeepReason, Protected, RetentionRow
from backtrail.domain.timeline import Epoch, Lineage, brought_back, lineage_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrail.domain.ids import CheckpointId, DecisionId
    from backtrail.domain.ledger import StepEntry
    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan
    from backtrail.storage.database import UnitOfWork


@dataclass(frozen=True, slots=True)
class WayBack:
    """An entry of the undo or redo stack: where taking it back leads, and what it went to."""

    safety: CheckpointId | None
    target: CheckpointId | None
    moves_timeline: bool
    """False for one that restored some paths only: taking it back revives nothing."""


def way_back(operation: Operation) -> WayBack:
    return WayBack(
        operation.safety_checkpoint_id, operation.target_checkpoint_id, not operation.paths
    )


def protection_now(uow: UnitOfWork, plan: Plan, rows: Sequence[RetentionRow]) -> Protected:
    """What is protected as things stand."""
    epochs = uow.epochs.all(plan.plan_id)
    ways = [way_back(entry) for entry in uow.operations.stacked(plan.plan_id)]
    lineage = lineage_of(plan.current_epoch, epochs)
    decisions = live_decisions(uow, plan, lineage)
    steps = uow.steps.ledger(plan.plan_id, lineage).pending
    protected = protection(ways, rows, epochs, decisions, steps)
    for_operations = dict.fromkeys(_needed_by_open_operations(uow, plan), KeepReason.OPERATION)
    for_run = dict.fromkeys(_needed_by_live_run(uow, plan), KeepReason.RUN)
    return Protected(
        {**for_operations, **for_run, **protected.needed},
        protected.revivable,
        protected.live_decisions,
    )


def protection(
    ways: Sequence[WayBack],
    rows: Sequence[RetentionRow],
    epochs: Mapping[int, Epoch],
    decisions: Mapping[DecisionId, int],
    steps: Iterable[StepEntry],
) -> Protected:
    """Both ends of every way back, what each would bring back, and where pending steps began."""
    places = {row.checkpoint_id: (row.epoch, row.position) for row in rows}
    ends = (end for way in ways for end in (way.safety, way.target) if end)
    returns = (way.safety for way in ways if way.moves_timeline and way.safety in places)
    return Protected(
        needed={
            **dict.fromkeys(_before_steps(steps, rows), KeepReason.STEP),
            **dict.fromkeys(ends, KeepReason.UNDO_REDO),
        },
        revivable=brought_back((places[safety] for safety in returns if safety), epochs),
        live_decisions=decisions,
    )


def live_decisions(uow: UnitOfWork, plan: Plan, lineage: Lineage) -> dict[DecisionId, int]:
    """Decisions of a lineage with their positions."""
    places = uow.decisions.places(plan.plan_id)
    return {
        decision: position
        for decision, (epoch, position) in places.items()
        if lineage.contains(epoch, position)
    }


def _needed_by_live_run(uow: UnitOfWork, plan: Plan) -> Iterable[CheckpointId]:
    run = uow.runs.live(plan.plan_id)
    if run is not None:
        yield from (end for end in (run.pre_checkpoint_id, run.post_checkpoint_id) if end)


def _needed_by_open_operations(uow: UnitOfWork, plan: Plan) -> Iterable[CheckpointId]:
    for operation in uow.operations.unfinished(plan.plan_id):
        ends = (
            operation.target_checkpoint_id,
            operation.safety_checkpoint_id,
            operation.result_checkpoint_id,
        )
        yield from (end for end in ends if end)


def _before_steps(
    steps: Iterable[StepEntry], rows: Sequence[RetentionRow]
) -> Iterable[CheckpointId]:
    """The state in which each step began that has not come to its end."""
    live = sorted((row for row in rows if row.live), key=lambda row: row.position, reverse=True)
    for entry in steps:
        before = (row for row in live if row.position < entry.attempt.position)
        yield from (row.checkpoint_id for row in islice(before, 1))
