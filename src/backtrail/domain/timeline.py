"""What a change of lineage does to the rows of a plan: who leaves the timeline, who returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointState, CheckpointType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backtrail.domain.ids import CheckpointId, OperationId
    from backtrail.domain.lineage import Lineage

_PRUNED = (CheckpointState.PRUNING, CheckpointState.PRUNED)


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """The part of a checkpoint that decides its place on the timeline."""

    checkpoint_id: CheckpointId
    epoch: int
    position: int
    superseded_by: OperationId | None
    state: CheckpointState
    checkpoint_type: CheckpointType


def supersessions(
    rows: Iterable[TimelineRow], lineage: Lineage, operation: OperationId
) -> dict[CheckpointId, OperationId | None]:
    """Rows whose mark changes when this lineage becomes the current one."""
    changes: dict[CheckpointId, OperationId | None] = {}
    for row in rows:
        live = lineage.contains(row.epoch, row.position)
        if live and row.superseded_by is not None:
            changes[row.checkpoint_id] = None
        elif not live and row.superseded_by is None:
            changes[row.checkpoint_id] = operation
    return changes


def leaving(rows: Iterable[TimelineRow], now: Lineage, then: Lineage) -> list[TimelineRow]:
    """Complete checkpoints that are live now and would not be then."""
    return [
        row
        for row in rows
        if row.state is CheckpointState.COMPLETE
        and now.contains(row.epoch, row.position)
        and not then.contains(row.epoch, row.position)
    ]


def returning_tombstones(rows: Iterable[TimelineRow], now: Lineage, then: Lineage) -> int:
    """How many of the rows that become live again are pruned: they can no longer be restored."""
    return sum(
        row.state in _PRUNED
        and then.contains(row.epoch, row.position)
        and not now.contains(row.epoch, row.position)
        for row in rows
    )


def tool_calls(rows: Iterable[TimelineRow]) -> int:
    """How many tool calls these checkpoints witness: one has a mark before it, after it or both."""
    types = [row.checkpoint_type for row in rows]
    return max(types.count(CheckpointType.PRE_TOOL), types.count(CheckpointType.POST_TOOL))
