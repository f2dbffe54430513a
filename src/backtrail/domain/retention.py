"""Which checkpoints of a plan stay and which go, each with its reason: a pure function.

Some are kept always, whatever the limits say. All others stand in one fixed order of removal and
go from its beginning until the limits are met, so that a higher limit never keeps less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointType
from backtrail.domain.retention_policy import CheckpointRetentionPolicy
from backtrail.domain.retention_values import (
    KeepReason,
    Kept,
    Protected,
    Removed,
    RemoveReason,
    RetentionDecision,
    RetentionRow,
    added_bytes,
)

if TYPE_CHECKING:
    from datetime import datetime

    from backtrail.domain.ids import CheckpointId

ROLLBACK_TYPES = frozenset({CheckpointType.PRE_ROLLBACK, CheckpointType.ROLLBACK})
TOOL_TYPES = frozenset({CheckpointType.PRE_TOOL, CheckpointType.POST_TOOL, CheckpointType.ON_ERROR})
RUN_TYPES = frozenset({CheckpointType.PRE_RUN, CheckpointType.POST_RUN, CheckpointType.TURN})
_AUTOMATIC_TYPES = RUN_TYPES | ROLLBACK_TYPES
_RANKS = {reason: rank for rank, reason in enumerate(RemoveReason)}


def decide(
    checkpoints: Iterable[RetentionRow],
    policy: CheckpointRetentionPolicy,
    protected: Protected,
    now: datetime,
    broken: Iterable[RetentionRow] = (),
) -> RetentionDecision:
    """Keep what must be kept; remove of the rest what is too old, and then as little as need be.

    What is `broken`, and cannot be restored, goes first unless somebody named or needs it, and
    never counts as kept.
    """
    rows = sorted(checkpoints, key=_position)
    always = kept_always(rows, policy, protected)
    oldest = None if policy.max_age is None else now - policy.max_age
    too_old = [
        r for r in rows if oldest and r.created_at < oldest and r.checkpoint_id not in always
    ]
    if too_old:
        gone = {row.checkpoint_id for row in too_old}
        rows = [row for row in rows if row.checkpoint_id not in gone]
    order = removal_order(rows, always, protected)
    surplus = _surplus(rows, order, policy)
    kept = [Kept(r, always[r.checkpoint_id]) for r in rows if r.checkpoint_id in always]
    kept += [Kept(entry.checkpoint, KeepReason.WITHIN_LIMITS) for entry in order[surplus:]]
    useless = (row for row in broken if not (row.named or row.checkpoint_id in protected.needed))
    removed = [Removed(row, RemoveReason.BROKEN) for row in sorted(useless, key=_position)]
    removed += [Removed(row, RemoveReason.TOO_OLD) for row in too_old] + order[:surplus]
    kept.sort(key=lambda entry: entry.checkpoint.position)
    return RetentionDecision(policy, tuple(kept), tuple(removed))


def kept_always(
    rows: Sequence[RetentionRow], policy: CheckpointRetentionPolicy, protected: Protected
) -> dict[CheckpointId, KeepReason]:
    """What no limit removes, with the first reason that holds; `rows` are oldest first."""
    newest = rows[::-1]
    live = [row for row in newest if row.live]
    kept: dict[CheckpointId, KeepReason] = {}
    for reason, group in (
        (KeepReason.FIRST, rows[:1]),
        (KeepReason.LATEST, (live or newest)[:1]),
        (KeepReason.PINNED, (row for row in rows if row.pinned)),
        (KeepReason.LABELLED, (row for row in rows if row.label is not None)),
    ):
        _mark(kept, reason, group)
    kept = {**protected.needed, **kept}
    green = list(_first(live, 1, lambda row: row.verified_green))
    ends = {row.checkpoint_id for row in (*rows[:1], *(live or newest)[:1], *green)}
    decided = _first(live, policy.max_checkpoints // 2, protected.is_of_decision)
    decided = list(_within(decided, ends, policy.max_checkpoints))
    ends |= {row.checkpoint_id for row in decided}
    recent = _within(_first(live, policy.keep_recent, _is_work), ends, policy.max_checkpoints)
    for reason, group in (
        (KeepReason.GREEN, green),
        (KeepReason.RECENT, recent),
        (KeepReason.DECISION, decided),
    ):
        _mark(kept, reason, group)
    return kept


def _within(
    rows: Iterable[RetentionRow], others: AbstractSet[CheckpointId], most: int
) -> Iterable[RetentionRow]:
    """The first of the rows, as long as they and the others together are not too many.

    What was named, is needed or can be undone does not count here: it may exceed the limit.
    """
    found = set(others)
    for row in rows:
        if row.checkpoint_id not in found and len(found) >= most:
            return
        found.add(row.checkpoint_id)
        yield row


def _mark(
    kept: dict[CheckpointId, KeepReason], reason: KeepReason, rows: Iterable[RetentionRow]
) -> None:
    for row in rows:
        kept.setdefault(row.checkpoint_id, reason)


def _is_work(row: RetentionRow) -> bool:
    return row.checkpoint_type not in ROLLBACK_TYPES


def _first(
    rows: Iterable[RetentionRow], most: int, wanted: Callable[[RetentionRow], bool]
) -> Iterable[RetentionRow]:
    return islice(filter(wanted, rows), most)


def _surplus(
    rows: Sequence[RetentionRow], order: Sequence[Removed], policy: CheckpointRetentionPolicy
) -> int:
    """How many of those that may go have to go."""
    number = min(len(order), max(0, len(rows) - policy.max_checkpoints))
    if policy.max_bytes is None:
        return number
    size = added_bytes(rows) - added_bytes(entry.checkpoint for entry in order[:number])
    while size > policy.max_bytes and number < len(order):
        size -= order[number].checkpoint.size_bytes or 0
        number += 1
    return number


def removal_order(
    rows: Sequence[RetentionRow],
    always: Mapping[CheckpointId, KeepReason],
    protected: Protected,
) -> list[Removed]:
    """All that may go, in the order in which it goes; `rows` and each reason oldest first."""
    reasons = [_reason(row, protected) for row in rows]
    may_go = [row.checkpoint_id not in always for row in rows]
    holders: dict[str, tuple[tuple[bool, int, bool], RetentionRow]] = {}
    for row, reason, free in zip(rows, reasons, may_go, strict=True):
        # Of the checkpoints with the same files, the one that stays longest.
        endures = (not free, _RANKS[reason], _is_work(row))
        if row.tree and (row.tree not in holders or endures >= holders[row.tree][0]):
            holders[row.tree] = endures, row
    order = [
        Removed(row, RemoveReason.SAME_FILES if _is_copy(row, holders) else reason)
        for row, reason, free in zip(rows, reasons, may_go, strict=True)
        if free
    ]
    # The sort is stable, so that age decides among equals.
    return sorted(order, key=lambda entry: _RANKS[entry.reason])


def _is_copy(row: RetentionRow, holders: Mapping[str, tuple[object, RetentionRow]]) -> bool:
    """Whether a rollback left it, and its files are kept longer by another one."""
    return not _is_work(row) and bool(row.tree) and holders[row.tree or ""][1] is not row


def _position(row: RetentionRow) -> int:
    return row.position


def _reason(row: RetentionRow, protected: Protected) -> RemoveReason:
    """Why this one would go, if its files were those of no other."""
    if not row.live:
        revivable = row.position <= protected.revivable.get(row.epoch, -1)
        return RemoveReason.SUPERSEDED_REVIVABLE if revivable else RemoveReason.SUPERSEDED
    if row.checkpoint_type in TOOL_TYPES:
        return RemoveReason.TOOL_LEVEL
    if row.checkpoint_type in _AUTOMATIC_TYPES:
        return RemoveReason.AUTOMATIC
    return RemoveReason.OLDEST
