"""Epochs and lineage: which part of a plan's past is its present, and what changes that.

Every full rollback, undo and redo opens a new epoch whose lineage is the target's lineage cut at
the target's position, plus itself. A row is live iff its (epoch, position) is in the current
lineage; nothing is ever marked by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointState, CheckpointType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from backtrail.domain.ids import CheckpointId, OperationId, PlanId


FIRST_EPOCH = 1


@dataclass(frozen=True, slots=True)
class Epoch:
    """One stretch of a plan's history, and where it branched off its parent."""

    plan_id: PlanId
    number: int
    parent: int | None
    cut: int | None
    operation_id: OperationId | None


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of an epoch that a lineage holds: up to `until`, or all of it."""

    epoch: int
    until: int | None

    def contains(self, position: int) -> bool:
        return self.until is None or position <= self.until


@dataclass(frozen=True, slots=True)
class Lineage:
    """Segments from the first epoch to the newest; the last one is open."""

    segments: tuple[Segment, ...]

    @classmethod
    def root(cls) -> Lineage:
        return cls((Segment(FIRST_EPOCH, None),))

    def contains(self, epoch: int, position: int) -> bool:
        return any(s.epoch == epoch and s.contains(position) for s in self.segments)

    @property
    def epoch(self) -> int:
        """The epoch that this lineage ends in."""
        return self.segments[-1].epoch

    def branch(self, position: int, new_epoch: int) -> Lineage:
        """This lineage cut at a position of its own last epoch, continued by a new epoch."""
        kept = self.segments[:-1]
        return Lineage((*kept, Segment(self.epoch, position), Segment(new_epoch, None)))

    def as_pairs(self) -> list[list[int | None]]:
        """A form that JSON can hold."""
        return [[s.epoch, s.until] for s in self.segments]


def lineage_of(number: int, epochs: Mapping[int, Epoch]) -> Lineage:
    """The lineage of one epoch, from the parents that the epochs name."""
    segments = [Segment(number, None)]
    epoch = epochs[number]
    while epoch.parent is not None:
        segments.append(Segment(epoch.parent, epoch.cut))
        epoch = epochs[epoch.parent]
    return Lineage(tuple(reversed(segments)))


def brought_back(places: Iterable[tuple[int, int]], epochs: Mapping[int, Epoch]) -> dict[int, int]:
    """By epoch, the last position that going back to one of these places would make live.

    Places are epoch and position. All lineages of an epoch begin at its first position, so the
    furthest one holds what the others hold.
    """
    limits: dict[int, int] = {}
    for epoch, position in places:
        for segment in lineage_of(epoch, epochs).segments:
            until = position if segment.until is None else segment.until
            limits[segment.epoch] = max(until, limits.get(segment.epoch, until))
    return limits


def next_epoch_number(epochs: Iterable[int]) -> int:
    return max(epochs, default=FIRST_EPOCH - 1) + 1


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


@dataclass(frozen=True, slots=True)
class TimelineChange:
    """A timeline as it is, and as it would be or came to be: the one answer to what leaves it."""

    now: Lineage
    then: Lineage

    def loses(self, epoch: int | None, position: int | None) -> bool:
        """Whether a place leaves the timeline; what never had one leaves nothing."""
        return _gains(self.then, self.now, epoch, position)

    def leaving(self, rows: Iterable[TimelineRow]) -> list[TimelineRow]:
        """Complete checkpoints that are live now and would not be then."""
        return [
            row
            for row in rows
            if row.state is CheckpointState.COMPLETE and self.loses(row.epoch, row.position)
        ]

    def returning_tombstones(self, rows: Iterable[TimelineRow]) -> int:
        """How many rows that become live again are pruned: they can no longer be restored."""
        return sum(
            row.state in _PRUNED and _gains(self.now, self.then, row.epoch, row.position)
            for row in rows
        )


def _gains(before: Lineage, after: Lineage, epoch: int | None, position: int | None) -> bool:
    if epoch is None or position is None:
        return False
    return after.contains(epoch, position) and not before.contains(epoch, position)


def tool_calls(rows: Iterable[TimelineRow]) -> int:
    """How many tool calls these checkpoints witness: one has a mark before it, after it or both."""
    types = [row.checkpoint_type for row in rows]
    return max(types.count(CheckpointType.PRE_TOOL), types.count(CheckpointType.POST_TOOL))
