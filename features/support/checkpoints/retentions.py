"""Random plans for retention to judge, and its rules in the plainest words.

Everything here is written from the design and shares nothing with the program but its values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from backtrail.domain.checkpoint import CheckpointType
from backtrail.domain.ids import CheckpointId, DecisionId
from backtrail.domain.retention import (
    CheckpointRetentionPolicy,
    KeepReason,
    Protected,
    RetentionDecision,
    RetentionRow,
    decide,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ROLLBACK_TYPES = ("pre_rollback", "rollback")
CLASSES = (
    ("pre_tool", "post_tool", "on_error"),
    ("pre_run", "post_run", "turn", *ROLLBACK_TYPES),
)
ORDER = (
    "too_old",
    "same_files",
    "superseded",
    "superseded_revivable",
    "tool_level",
    "automatic",
    "oldest",
)
DECISION = DecisionId("decision that holds")
DECIDED_AT = 15


@dataclass(frozen=True)
class Case:
    rows: tuple[RetentionRow, ...]
    policy: CheckpointRetentionPolicy
    protected: Protected

    def decided(self) -> RetentionDecision:
        return decide(self.rows, self.policy, self.protected, NOW)

    def with_limit(self, limit: int) -> Case:
        return replace(self, policy=replace(self.policy, max_checkpoints=limit))

    def spared(self) -> set[CheckpointId]:
        """Ids of what the design keeps always."""
        live = sorted((r for r in self.rows if r.live), key=lambda r: -r.position)
        newest = live or sorted(self.rows, key=lambda r: -r.position)
        work = [r for r in live if r.checkpoint_type not in ROLLBACK_TYPES]
        decided = [r for r in live if r.decision_id == DECISION and r.position < DECIDED_AT]
        most = self.policy.max_checkpoints
        usual = {
            *(r.checkpoint_id for r in sorted(self.rows, key=lambda r: r.position)[:1]),
            *(r.checkpoint_id for r in newest[:1]),
            *(r.checkpoint_id for r in [r for r in live if r.verified_green][:1]),
        }
        for row in (*decided[: most // 2], *work[: self.policy.keep_recent]):
            if len(usual) < most:
                usual.add(row.checkpoint_id)
        named = {r.checkpoint_id for r in self.rows if r.pinned or r.label}
        ours = {r.checkpoint_id for r in self.rows}
        return usual | named | (set(self.protected.needed) & ours)

    def place_in_order(self, row: RetentionRow) -> tuple[int, int]:
        """Where a row stands in the order of removal if no other has its files."""
        if not row.live:
            revived = row.position <= self.protected.revivable.get(row.epoch, 0)
            return ORDER.index("superseded_revivable" if revived else "superseded"), row.position
        for at, types in enumerate(CLASSES):
            if row.checkpoint_type in types:
                return ORDER.index("tool_level") + at, row.position
        return ORDER.index("oldest"), row.position

    def has_stayer_with_files_of(self, row: RetentionRow) -> bool:
        """Whether another one has the same files and does not go before this one."""
        return row.tree is not None and any(
            other.checkpoint_id in self.spared() or self._stays_longer(other, row)
            for other in self.rows
            if other.tree == row.tree and other.checkpoint_id != row.checkpoint_id
        )

    def _stays_longer(self, one: RetentionRow, other: RetentionRow) -> bool:
        """Work stays longer than what a rollback left, unless it goes for an earlier reason."""
        (reason, age), (reason_of_other, age_of_other) = map(self.place_in_order, (one, other))
        works = [row.checkpoint_type not in ROLLBACK_TYPES for row in (one, other)]
        return (reason, works[0], age) > (reason_of_other, works[1], age_of_other)


TYPES = tuple(
    CheckpointType(name)
    for name in ("manual", "turn", "pre_tool", "pre_decision", "rollback", "pre_rollback")
)
TREES = (None, *"abc")


def _row(position: int, chance: int) -> RetentionRow:
    """A row made of one number, which is far quicker than drawing each of its fields."""

    def one_of(number: int) -> int:
        nonlocal chance
        chance, drawn = divmod(chance, number)
        return drawn

    return RetentionRow(
        checkpoint_id=CheckpointId(f"c{position}"),
        seq=position,
        position=position,
        live=one_of(2) == 0,
        checkpoint_type=TYPES[one_of(len(TYPES))],
        tree=TREES[one_of(len(TREES))],
        epoch=1 + one_of(3),
        pinned=one_of(10) == 9,
        verified_green=one_of(2) == 1,
        decision_id=(DECISION, None, DecisionId("another"))[one_of(3)],
        created_at=NOW - timedelta(days=one_of(40)),
        size_bytes=(None, *range(0, 100, 7))[one_of(16)],
        label=(None, None, None, None, None, None, None, "named")[one_of(8)],
        sandbox_ref=None,
    )


_CHANCES = 2 * 6 * 4 * 3 * 10 * 2 * 3 * 40 * 16 * 8


@st.composite
def cases(draw: st.DrawFn, *, limits: bool = True) -> Case:
    """Some checkpoints in any order; without `limits`, only their number is limited."""
    chances = draw(st.lists(st.integers(0, _CHANCES - 1), min_size=1, max_size=25))
    made = [_row(position, chance) for position, chance in enumerate(chances, start=1)]
    needed = draw(st.lists(st.sampled_from(made), max_size=3))
    whole = max(1, sum(row.size_bytes or 0 for row in made))
    age = draw(st.none() | st.integers(1, 40)) if limits else None
    policy = CheckpointRetentionPolicy(
        max_checkpoints=draw(st.integers(1, 12)),
        max_age=None if age is None else timedelta(days=age),
        max_bytes=draw(st.none() | st.integers(1, 500) | st.just(whole)) if limits else None,
        keep_recent=draw(st.integers(0, 15)),
    )
    protected = Protected(
        needed=dict.fromkeys((row.checkpoint_id for row in needed), KeepReason.UNDO_REDO),
        revivable=draw(st.dictionaries(st.integers(1, 3), st.integers(1, len(made)), max_size=3)),
        live_decisions={DECISION: DECIDED_AT},
    )
    return Case(tuple(made), policy, protected)
