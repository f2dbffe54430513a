"""Checkpoints: one recorded state of a sandbox each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from backtrail.domain.errors import UsageError
from backtrail.domain.redaction import redacted, redacted_values

if TYPE_CHECKING:
    from datetime import datetime

    from backtrail.domain.ids import (
        CheckpointId,
        CommitId,
        DecisionId,
        OperationId,
        PlanId,
        SandboxId,
    )

LABEL = re.compile(r"[A-Za-z][\w.-]*")
KEYWORDS = frozenset({"first", "latest", "last-green"})
MAX_LABEL_LENGTH = 100


class CheckpointType(StrEnum):
    INITIAL = "initial"
    MANUAL = "manual"
    TURN = "turn"
    PRE_RUN = "pre_run"
    POST_RUN = "post_run"
    PRE_TOOL = "pre_tool"
    POST_TOOL = "post_tool"
    PRE_DECISION = "pre_decision"
    SUBPLAN_SPAWN = "subplan_spawn"
    ON_ERROR = "on_error"
    PRE_ROLLBACK = "pre_rollback"
    ROLLBACK = "rollback"
    PRE_APPLY = "pre_apply"
    PRE_REMOVE = "pre_remove"


class CheckpointState(StrEnum):
    CREATING = "creating"
    COMPLETE = "complete"
    FAILED = "failed"
    PRUNING = "pruning"
    PRUNED = "pruned"
    DAMAGED = "damaged"


PROTOCOL_TYPES = frozenset(
    {
        CheckpointType.INITIAL,
        CheckpointType.SUBPLAN_SPAWN,
        CheckpointType.PRE_ROLLBACK,
        CheckpointType.ROLLBACK,
        CheckpointType.PRE_APPLY,
        CheckpointType.PRE_REMOVE,
    }
)
"""Types that only a protocol of ours may give, since they mean that the protocol took place."""


@dataclass(frozen=True, slots=True)
class NotCaptured:
    """A path that a checkpoint does not hold, and why."""

    path: str
    reason: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The checkpoint of another plan that a plan was forked from."""

    plan: str
    plan_id: PlanId
    checkpoint_id: CheckpointId
    seq: int


@dataclass(frozen=True, slots=True)
class CheckpointRequest:
    """What a caller may say about the checkpoint it asks for; secrets in it go no further."""

    reason: str = ""
    checkpoint_type: CheckpointType = CheckpointType.MANUAL
    label: str | None = None
    source_tool: str | None = None
    phase: str | None = None
    decision_id: DecisionId | None = None
    pinned: bool = False
    meta: Mapping[str, str] = field(default_factory=dict[str, str])
    forked_from: Origin | None = None

    def __post_init__(self) -> None:
        for name in ("reason", "source_tool", "phase"):
            said: str | None = getattr(self, name)
            object.__setattr__(self, name, said and redacted(said))
        object.__setattr__(self, "meta", redacted_values(self.meta))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One row of `checkpoint_metadata` as the rest of the program sees it."""

    checkpoint_id: CheckpointId
    plan_id: PlanId
    seq: int
    position: int
    epoch: int
    checkpoint_type: CheckpointType
    state: CheckpointState
    sandbox_ref: CommitId | None
    resource_id: SandboxId
    decision_id: DecisionId | None
    parent_checkpoint_id: CheckpointId | None
    superseded_by: OperationId | None
    filesystem_path: str
    size_bytes: int | None
    label: str | None
    pinned: bool
    verified_green: bool
    last_completed_step: str | None
    created_at: datetime
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def live(self) -> bool:
        return self.superseded_by is None

    @property
    def restorable(self) -> bool:
        return self.state is CheckpointState.COMPLETE and self.sandbox_ref is not None

    @property
    def not_captured_paths(self) -> frozenset[str]:
        """What it does not hold; metadata that somebody damaged tells of nothing."""
        entries: object = self.metadata.get("not_captured")
        if not isinstance(entries, list):
            return frozenset()
        return frozenset(
            str(cast("dict[str, object]", entry).get("path"))
            for entry in cast("list[object]", entries)
            if isinstance(entry, dict)
        )

    @property
    def what_became_of_it(self) -> str:
        """Its state for a sentence; of one that is pruned also when, and by what."""
        note: object = self.metadata.get("pruned")
        if self.state is not CheckpointState.PRUNED or not isinstance(note, dict):
            return f"is {self.state}"
        said = cast("dict[str, object]", note)
        # Metadata that somebody damaged tells less.
        moment = str(said.get("at", "?"))[:16].replace("T", " ")
        return f"was pruned at {moment} UTC by {said.get('by', '?')}"

    @property
    def forked_from(self) -> Origin | None:
        """Where the plan of this, its first, checkpoint was forked from."""
        found: object = self.metadata.get("forked_from")
        try:
            return Origin(**cast("dict[str, Any]", found)) if found else None
        except TypeError:
            # Metadata that somebody damaged tells of nothing.
            return None

    @property
    def reason(self) -> str:
        return str(self.metadata.get("reason") or "")


def check_label(label: str) -> str:
    """The label itself if it cannot be taken for another kind of reference."""
    if not LABEL.fullmatch(label) or len(label) > MAX_LABEL_LENGTH:
        raise UsageError(
            f"{label!r} cannot be a label",
            hint="begin with a letter; then letters, digits, '_', '.' and '-'",
        )
    if label.lower() in KEYWORDS:
        raise UsageError(
            f"{label!r} cannot be a label: it is a word with a meaning of its own",
            hint=f"these words are taken: {', '.join(sorted(KEYWORDS))}",
        )
    return label
