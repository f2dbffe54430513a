"""What retention speaks of: the checkpoints it judges, its reasons and its verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from backtrail.domain.checkpoint import CheckpointType
    from backtrail.domain.ids import CheckpointId, CommitId, DecisionId
    from backtrail.domain.plan import Plan
    from backtrail.domain.retention_policy import CheckpointRetentionPolicy


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
