"""A plan's checkpoints as a tree, newest first: what grew from what, and what was gone back to."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointState
from backtrail.domain.graph import GraphRow, Node, lay_out
from backtrail.domain.timeline import lineage_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CheckpointId
    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan
    from backtrail.domain.timeline import Epoch

_STANDING = (CheckpointState.COMPLETE, CheckpointState.DAMAGED)


@dataclass(frozen=True, slots=True)
class View:
    """Which part of a history is asked for."""

    live_only: bool = False
    tombstones: bool = False
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class CameFrom:
    """The rollback, undo or redo that made a checkpoint, and what it brought back."""

    operation: Operation
    target: Checkpoint


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One checkpoint in its place."""

    checkpoint: Checkpoint
    follows: Checkpoint | None
    """The one before it on its line; where a branch begins, the one it branched off."""
    latest: bool
    came_from: CameFrom | None
    files_changed: int | None = None
    """How many files differ from `parent_checkpoint_id`; None if that cannot be told."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many checkpoints a view does not show, by the reason."""

    superseded: int
    tombstones: int
    older: int


@dataclass(frozen=True, slots=True)
class History:
    """The checkpoints of a plan that a view shows, newest first."""

    plan: Plan
    entries: tuple[HistoryEntry, ...]
    nodes: tuple[Node, ...]
    """Of the entries, and then of older ones that a limit cut off: lines lead there."""
    left_out: LeftOut

    def graph(self, *, max_columns: int | None = None) -> tuple[GraphRow, ...]:
        """Where each entry stands; lines to what was cut off go on below the last one."""
        return lay_out(self.nodes, max_columns=max_columns)[: len(self.entries)]


def history_of(
    plan: Plan,
    rows: Sequence[Checkpoint],
    epochs: Mapping[int, Epoch],
    operations: Iterable[Operation],
    view: View,
) -> History:
    """The history of a plan; `rows` are all of its checkpoints, oldest first."""
    timeline = lineage_of(plan.current_epoch, epochs)
    live = {row.checkpoint_id for row in rows if timeline.contains(row.epoch, row.position)}
    standing = [row for row in rows if view.tombstones or row.state in _STANDING]
    shown = [row for row in standing if not view.live_only or row.checkpoint_id in live]
    shown.reverse()
    tree = _Tree(shown, epochs)
    before = [tree.before(row) for row in shown]
    entries = _entries(rows, shown, before, operations)[: view.limit]
    return History(
        plan=plan,
        entries=entries,
        nodes=tuple(
            Node(row.checkpoint_id in live, follows)
            for row, follows in zip(shown, before, strict=True)
        ),
        left_out=LeftOut(
            superseded=len(standing) - len(shown),
            tombstones=len(rows) - len(standing),
            older=len(shown) - len(entries),
        ),
    )


def _entries(
    rows: Sequence[Checkpoint],
    shown: Sequence[Checkpoint],
    before: Sequence[int | None],
    operations: Iterable[Operation],
) -> tuple[HistoryEntry, ...]:
    latest = max((row.position for row in rows if row.live and row.restorable), default=None)
    origins = _origins(rows, operations)
    return tuple(
        HistoryEntry(
            checkpoint=row,
            follows=None if follows is None else shown[follows],
            latest=row.position == latest,
            came_from=origins.get(row.checkpoint_id),
        )
        for row, follows in zip(shown, before, strict=True)
    )


def _origins(
    rows: Iterable[Checkpoint], operations: Iterable[Operation]
) -> dict[CheckpointId, CameFrom]:
    """What each checkpoint brought back, for those that an operation made by going back."""
    by_id = {row.checkpoint_id: row for row in rows}
    origins: dict[CheckpointId, CameFrom] = {}
    for operation in operations:
        made, wanted = operation.result_checkpoint_id, operation.target_checkpoint_id
        if made and wanted and wanted in by_id:
            origins[made] = CameFrom(operation, by_id[wanted])
    return origins


class _Tree:
    """Finds what a row grew from among the rows that are shown."""

    def __init__(self, newest_first: Sequence[Checkpoint], epochs: Mapping[int, Epoch]) -> None:
        self._epochs = epochs
        self._places: dict[int, list[tuple[int, int]]] = {}
        for index, row in reversed(tuple(enumerate(newest_first))):
            self._places.setdefault(row.epoch, []).append((row.position, index))

    def before(self, row: Checkpoint) -> int | None:
        """The index of the nearest older row in the lineage of this one."""
        epoch, last = row.epoch, row.position - 1
        while True:
            places = self._places.get(epoch, [])
            at = bisect_right(places, last, key=itemgetter(0))
            if at:
                return places[at - 1][1]
            branch = self._epochs.get(epoch)
            if branch is None or branch.parent is None or branch.cut is None:
                return None
            epoch, last = branch.parent, branch.cut
