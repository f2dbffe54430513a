"""What a rollback, undo or redo did or would do, and what a diff shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from backtrail.domain.settings import RollbackPolicy

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint, Origin
    from backtrail.domain.decision import StandingDecision
    from backtrail.domain.ids import OperationId
    from backtrail.domain.operation import OperationKind
    from backtrail.domain.plan import Phase, Plan, PlanState
    from backtrail.domain.run import Run


class RevertAction(StrEnum):
    RESTORED = "restored"
    REMOVED = "removed"


class DiffAction(StrEnum):
    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    TYPE_CHANGED = "type_changed"
    MODE_CHANGED = "mode_changed"
    IGNORED = "ignored"
    """Still there, and by now no part of what is captured."""


@dataclass(frozen=True, slots=True)
class RevertedFile:
    file: str
    action: RevertAction


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A path that the rollback neither restored nor removed, and why."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class RollbackRequest:
    """What is asked for besides the checkpoint."""

    paths: tuple[str, ...] = ()
    """Only these, by their paths in the sandbox; all of it if there are none."""
    move_branch: bool = False
    """Whether the branch of an attached sandbox goes back as well."""
    during_merge: bool = False
    """Whether what is under way in an attached sandbox goes or comes back as well."""
    reason: str = ""


class Part(StrEnum):
    """What a whole rollback brings back."""

    FILES = "files"
    INDEX = "index"
    HEAD = "HEAD"
    UNDER_WAY = "under_way"
    """A merge, rebase or the like, or that none is under way."""


@dataclass(frozen=True, slots=True)
class NotRestored:
    """A part of the git state that is not what it was at the checkpoint, and why."""

    part: Part
    reason: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """One path of a diff; line counts are None for binary files."""

    file: str
    action: DiffAction
    added: int | None
    removed: int | None


@dataclass(frozen=True, slots=True)
class Impact:
    """What leaves the timeline."""

    checkpoints_superseded: int
    decisions_after_cp: int
    tool_calls_after_cp: int
    runs_after_cp: int
    child_plans_invalidated: int
    steps_superseded: int
    steps_pending_again: int
    """Steps that had started before the target and ended after it."""
    sandbox: str


@dataclass(frozen=True, slots=True)
class PostRollbackState:
    """Read from the store after the fact."""

    phase: Phase
    state: PlanState
    checkpoints_remaining: int


@dataclass(frozen=True, slots=True)
class RollbackResult:
    """The outcome of a rollback, undo or redo; of a dry run, what it would be."""

    plan: Plan
    kind: OperationKind
    operation_id: OperationId | None
    target: Checkpoint
    safety_checkpoint: Checkpoint | None
    restored_checkpoint: Checkpoint | None
    verified: bool
    """A second look found all that was brought back to be exact."""
    dry_run: bool
    paths: tuple[str, ...]
    changes: tuple[RevertedFile, ...]
    left_alone: tuple[LeftAlone, ...]
    impact: Impact
    after: PostRollbackState
    proven: tuple[Part, ...] = ()
    """What the second look was about."""
    not_restored: tuple[NotRestored, ...] = ()
    messages: tuple[str, ...] = ()
    """Things worth saying: a detached HEAD, a branch that was not moved, and the like."""
    gone_since: tuple[LeftAlone, ...] = ()
    """What was there at the target, is in no checkpoint, and is not there any more."""


@dataclass(frozen=True, slots=True)
class DiffResult:
    """Files that differ between two states; `to` is None for the sandbox as it is now."""

    plan: Plan
    from_checkpoint: Checkpoint
    to_checkpoint: Checkpoint | None
    files: tuple[FileChange, ...]
    patch: str | None = None


@dataclass(frozen=True, slots=True)
class PlanStatus:
    """Where a plan stands, and what changed in its sandbox since `latest`."""

    plan: Plan
    latest: Checkpoint | None
    changes: tuple[FileChange, ...]
    problem: str | None
    """Why the sandbox cannot be looked at, with `changes` empty then."""
    hint: str | None
    counts: Mapping[str, int]
    undoable: int
    redoable: int
    parent: str | None = None
    """The name of the plan that it came out of."""
    forked_from: Origin | None = None
    run: Run | None = None
    """The run that is live, if one is."""
    rollback_policy: RollbackPolicy = field(default_factory=RollbackPolicy)
    current_decision: StandingDecision | None = None
    revertible: tuple[StandingDecision, ...] = ()
    """Decisions that `plan correct --mode revert` could take back, oldest first."""
    tool_calls_since_latest: int = 0


@dataclass(frozen=True, slots=True)
class CreatedPlan:
    plan: Plan
    checkpoint: Checkpoint
    created: bool
    """False when `--if-exists use` found the plan in place."""
    copied: tuple[str, ...] = ()
    """Ignored files that were brought along from the main checkout."""
    messages: tuple[str, ...] = ()
