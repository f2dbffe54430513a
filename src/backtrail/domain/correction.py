"""Corrections: a decision turned out wrong, and what is to be done instead."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from backtrail.domain.ids import DecisionId

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.decision import Decision, StandingDecision
    from backtrail.domain.ids import CheckpointId, CorrectionId, OperationId, PlanId
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback import RollbackResult


class CorrectionMode(StrEnum):
    """`revert` goes back to before the decision; `append` leaves everything and adds to it."""

    REVERT = "revert"
    APPEND = "append"


class Relation(StrEnum):
    """How a decision stands to the one that is corrected."""

    CORRECTED = "corrected"
    DESCENDANT = "descendant"
    LATER = "later"
    EARLIER = "earlier"
    """It goes along only because a checkpoint before it is the nearest that is left."""


class Redo(StrEnum):
    """What kind of thing has to be done again."""

    DECISION = "decision"
    RUN = "run"
    STEP = "step"
    CHILD_PLAN = "child_plan"


@dataclass(frozen=True, slots=True)
class Correction:
    """One row of `corrections`."""

    correction_id: CorrectionId
    plan_id: PlanId
    decision_id: DecisionId
    """The one that turned out wrong."""
    corrective_decision_id: DecisionId
    mode: CorrectionMode
    guidance: str
    operation_id: OperationId
    checkpoint_id: CheckpointId | None
    """What a revert went back to."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Correcting:
    """What a revert is about to put in the place of a decision.

    It is a part of the operation's journal, so that whoever finishes the revert can write it.
    """

    decision_id: DecisionId
    corrective_decision_id: DecisionId
    parent_decision_id: DecisionId | None
    guidance: str

    def as_json(self) -> dict[str, str | None]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Correcting:
        return cls(**stored)


@dataclass(frozen=True, slots=True)
class Aim:
    """What a revert of a decision goes back to."""

    decision: Decision
    checkpoint: Checkpoint
    nearest: bool
    """Not the decision's own checkpoint, but the nearest one before it."""


@dataclass(frozen=True, slots=True)
class AffectedDecision:
    decision: Decision
    relation: Relation


@dataclass(frozen=True, slots=True)
class Recompute:
    """Something that left the timeline with the decision and has to be done again."""

    kind: Redo
    identity: str
    reference: str
    """What people type."""
    text: str
    position: int
    relation: Relation | None = None


@dataclass(frozen=True, slots=True)
class PastCorrection:
    """A correction of this place in the tree, with the decisions that it is about."""

    correction: Correction
    decision: Decision
    corrective: Decision


@dataclass(frozen=True, slots=True)
class CorrectionResult:
    """What a correction did; of a preview, what it would do."""

    plan: Plan
    mode: CorrectionMode
    guidance: str
    dry_run: bool
    nearest: bool
    decision: StandingDecision
    """The corrected one, as it stands now."""
    corrective: StandingDecision | None
    rollback: RollbackResult | None
    """None for `append`."""
    affected: tuple[AffectedDecision, ...]
    """Of a revert, the decisions that leave the timeline; of an append, the subtree."""
    recompute: tuple[Recompute, ...]
    history: tuple[PastCorrection, ...]
    messages: tuple[str, ...] = ()
