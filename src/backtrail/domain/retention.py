"""Which checkpoints of a plan stay and which go, each with its reason: a pure function.

Some are kept always, whatever the limits say. All others stand in one fixed order of removal and
go from its beginning until the limits are met, so that a higher limit never keeps less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from backtrail.domain.checkpoint import CheckpointType
from backtrail.domain.errors import UsageError
from backtrail.domain.operation import UNDO_DEPTH

if TYPE_CHECKING:
    from datetime import datetime

    from backtrail.domain.ids import CheckpointId, CommitId, DecisionId
    from backtrail.domain.plan import Plan


RETENTION = "retention"
LIMITS = ("max_checkpoints", "max_age_seconds", "max_bytes", "keep_recent", "undo_depth")
"""Under these names a plan's own limits are stored and shown; what is not stored is the default."""
_LONGEST = timedelta(days=36500)
_MOST = 10**15


@dataclass(frozen=True, slots=True)
class CheckpointRetentionPolicy:
    """The limits of one plan; what is protected may exceed them."""

    max_checkpoints: int = 50
    max_age: timedelta | None = None
    max_bytes: int | None = None
    keep_recent: int = 10
    undo_depth: int = UNDO_DEPTH

    def __post_init__(self) -> None:
        _check_count("max_checkpoints", self.max_checkpoints, least=1)
        _check_count("keep_recent", self.keep_recent, least=0)
        # A rollback that fails half-way must be undoable.
        _check_count("undo_depth", self.undo_depth, least=1)
        if self.max_bytes is not None:
            _check_count("max_bytes", self.max_bytes, least=1)
        if self.max_age is not None and not timedelta(0) < self.max_age <= _LONGEST:
            raise UsageError(
                "max_age must be more than nothing and at most 36500 days",
                hint="write it as 12h, 30d or 2w; none for no limit",
            )

    @property
    def counts_alone(self) -> bool:
        """Whether the number of checkpoints tells if any must go."""
        return self.max_age is None and self.max_bytes is None

    def with_limits(self, limits: Mapping[str, Any]) -> CheckpointRetentionPolicy:
        """The same but for these limits. Unknown names are not ours to judge."""
        values = {name: limits[name] for name in LIMITS if name in limits}
        if "max_age_seconds" in values:
            values["max_age"] = _age(values.pop("max_age_seconds"))
        return replace(self, **values)

    def limits(self) -> dict[str, int | None]:
        """All limits in a form that JSON can hold."""
        values = asdict(self)
        age = cast("timedelta | None", values.pop("max_age"))
        values["max_age_seconds"] = None if age is None else round(age.total_seconds())
        return {name: values[name] for name in LIMITS}


@dataclass(frozen=True, slots=True)
class PlanRetention:
    """A plan's policy as it was stored, and what is wrong with what was stored."""

    policy: CheckpointRetentionPolicy
    own: tuple[str, ...] = ()
    """The limits that the plan itself sets."""
    problem: str | None = None
    """Why the defaults stand in for the plan's own limits."""


def stored_retention(
    plan_policy: Mapping[str, Any], usual: CheckpointRetentionPolicy
) -> PlanRetention:
    """The retention part of a plan's policy; damaged or impossible limits count as not set."""
    stored: object = plan_policy.get(RETENTION, None if "corrupt" in plan_policy else {})
    if not isinstance(stored, Mapping):
        return PlanRetention(usual, problem="they cannot be read")
    limits = cast("Mapping[str, Any]", stored)
    try:
        policy = usual.with_limits(limits)
    except UsageError as error:
        return PlanRetention(usual, problem=error.message)
    return PlanRetention(policy, tuple(name for name in LIMITS if name in limits))


def _age(seconds: object) -> timedelta | None:
    if seconds is None:
        return None
    whole = _check_count("max_age", seconds, least=1)
    # A number that no span of time can hold must be told as too long, too.
    return timedelta(seconds=min(whole, _LONGEST.total_seconds() + 1))


def _check_count(name: str, value: object, *, least: int) -> int:
    # True would pass for 1, and rows and callers may hold anything.
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST:
        raise UsageError(
            f"{name} cannot be {value!r}",
            hint=f"{name} is a whole number from {least} to {_MOST}",
        )
    return value


class KeepReason(StrEnum):
    FIRST = "first"
    LATEST = "latest"
    PINNED = "pinned"
    LABELLED = "labelled"
    GREEN = "green"
    RECENT = "recent"
    UNDO_REDO = "undo_redo"
    OPERATION = "operation"
    STEP = "step"
    RUN = "run"
    DECISION = "decision"
    WITHIN_LIMITS = "within_limits"


class RemoveReason(StrEnum):
    """In the order of removal; what was asked for, is broken or too old goes in any case."""

    ASKED_FOR = "asked_for"
    BROKEN = "broken"
    TOO_OLD = "too_old"
    SAME_FILES = "same_files"
    SUPERSEDED = "superseded"
    SUPERSEDED_REVIVABLE = "superseded_revivable"
    TOOL_LEVEL = "tool_level"
    AUTOMATIC = "automatic"
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class RetentionRow:
    """The part of a checkpoint that decides whether it stays."""

    checkpoint_id: CheckpointId
    seq: int
    position: int
    epoch: int
    checkpoint_type: CheckpointType
    sandbox_ref: CommitId | None
    pinned: bool
    verified_green: bool
    decision_id: DecisionId | None
    created_at: datetime
    size_bytes: int | None
    label: str | None
    live: bool
    tree: str | None

    @property
    def named(self) -> bool:
        """Whether somebody said that this one matters."""
        return self.pinned or self.label is not None


@dataclass(frozen=True, slots=True)
class Protected:
    """What other parts of the plan still need."""

    needed: Mapping[CheckpointId, KeepReason] = field(
        default_factory=dict["CheckpointId", KeepReason]
    )
    revivable: Mapping[int, int] = field(default_factory=dict[int, int])
    """By epoch, the last position that an undo or redo would bring back onto the timeline."""
    live_decisions: Mapping[DecisionId, int] = field(default_factory=dict["DecisionId", int])
    """Decisions that still hold, with their positions."""

    def is_of_decision(self, row: RetentionRow) -> bool:
        """Whether a checkpoint was taken before a decision that still holds.

        Also what a revert left is: a corrective decision has no other.
        """
        if row.decision_id is None:
            return False
        return row.position < self.live_decisions.get(row.decision_id, row.position)


@dataclass(frozen=True, slots=True)
class Kept:
    checkpoint: RetentionRow
    reason: KeepReason


@dataclass(frozen=True, slots=True)
class Removed:
    checkpoint: RetentionRow
    reason: RemoveReason


@dataclass(frozen=True, slots=True)
class RetentionDecision:
    """The verdict on every checkpoint: kept ones oldest first, removed ones in order of removal."""

    policy: CheckpointRetentionPolicy
    kept: tuple[Kept, ...]
    removed: tuple[Removed, ...]

    @property
    def over_limit(self) -> int:
        """How many more than the limit are kept because they are protected."""
        return max(0, len(self.kept) - self.policy.max_checkpoints)

    @property
    def over_bytes(self) -> int:
        """By how much the limit of bytes is exceeded for the same reason."""
        if self.policy.max_bytes is None:
            return 0
        return max(0, added_bytes(entry.checkpoint for entry in self.kept) - self.policy.max_bytes)


@dataclass(frozen=True, slots=True)
class PruneResult:
    """What pruning or deleting did; of a dry run, what it would do."""

    plan: Plan
    decision: RetentionDecision
    dry_run: bool


def added_bytes(rows: Iterable[RetentionRow]) -> int:
    """What checkpoints added to the store, as far as it is known."""
    return sum(row.size_bytes or 0 for row in rows)


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
