"""Plans and their sandboxes, and what ending, restoring or applying one did or would do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from backtrail.domain.errors import UsageError
from backtrail.domain.settings import ApplyStrategy

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CommitId, OperationId, PlanId, SandboxId
    from backtrail.domain.rollback import FileChange, NotRestored


MAX_NAME_LENGTH = 64
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?")


class Phase(StrEnum):
    STRATEGIZE = "strategize"
    EXECUTE = "execute"
    APPLY = "apply"


class PlanState(StrEnum):
    QUEUED = "queued"
    PROCESSING = "processing"
    ERRORED = "errored"
    COMPLETE = "complete"
    APPLIED = "applied"
    CANCELLED = "cancelled"
    INVALIDATED = "invalidated"
    REMOVED = "removed"

    @property
    def end(self) -> str | None:
        """How a plan came to its end; None while something can still be done in it."""
        return _ENDS.get(self)


_ENDS = {
    PlanState.APPLIED: "has been applied",
    PlanState.INVALIDATED: "was invalidated by a rollback of its parent plan",
    PlanState.REMOVED: "has been removed",
}


class SandboxKind(StrEnum):
    """`own`: a worktree that we made; `attached`: the user's, whose branch we do not move."""

    OWN = "own"
    ATTACHED = "attached"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The worktree that a plan works in."""

    sandbox_id: SandboxId
    plan_id: PlanId
    kind: SandboxKind
    path: Path
    git_dir: Path
    branch: str | None
    base_commit: CommitId | None
    store_id: str
    host_id: str
    inode: tuple[int, int] | None = None
    """Device and inode of its git directory, once it was looked at and found to be its own."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A piece of work with a name, and where it stands."""

    plan_id: PlanId
    repository_id: str
    name: str
    phase: Phase
    state: PlanState
    current_epoch: int
    position: int
    parent_plan_id: PlanId | None
    base_ref: str | None
    applied_commit: CommitId | None
    created_at: datetime
    sandbox: Sandbox
    policy: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The plan's own rules, part by part; each part has a module that reads it."""


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """A plan in a list of many."""

    plan: Plan
    active_at: datetime
    """When anything was last done to it."""
    checkpoints: int
    """How many of its checkpoints can be restored."""
    size_bytes: int
    """What they added to the store."""
    present: bool = True
    """Whether its sandbox is where it should be."""
    changed_files: int | None = None
    """Files that changed since the latest checkpoint; None if nobody looked, or could."""


class PlanOrder(StrEnum):
    """By what a list of plans is sorted: the newest, largest or most first, names from A to Z."""

    ACTIVITY = "activity"
    CREATED = "created"
    NAME = "name"
    CHECKPOINTS = "checkpoints"
    SIZE = "size"


def in_order(plans: Iterable[PlanSummary], order: PlanOrder) -> list[PlanSummary]:
    """The plans sorted; equal ones by their id, so that the order is always the same."""
    steady = sorted(plans, key=lambda p: p.plan.plan_id, reverse=order is not PlanOrder.NAME)
    match order:
        case PlanOrder.NAME:
            return sorted(steady, key=lambda p: p.plan.name)
        case PlanOrder.CREATED:
            return sorted(steady, key=lambda p: p.plan.created_at, reverse=True)
        case PlanOrder.CHECKPOINTS:
            return sorted(steady, key=lambda p: p.checkpoints, reverse=True)
        case PlanOrder.SIZE:
            return sorted(steady, key=lambda p: p.size_bytes, reverse=True)
        case PlanOrder.ACTIVITY:
            return sorted(steady, key=lambda p: p.active_at, reverse=True)


def check_plan_name(name: str) -> str:
    """The name itself if it can be a directory, a branch and a word on a command line."""
    problem = _name_problem(name)
    if problem:
        raise UsageError(
            f"{name!r} cannot be a plan name: {problem}",
            hint="use letters, digits, '.', '_' and '-', beginning with a letter or digit",
        )
    return name


def _name_problem(name: str) -> str | None:
    if not name:
        return "it is empty"
    if len(name) > MAX_NAME_LENGTH:
        return f"it is longer than {MAX_NAME_LENGTH} characters"
    if not _NAME.fullmatch(name):
        return "it has characters that are not allowed there"
    if ".." in name or name.endswith(".lock"):
        return "git cannot use it in a branch name"
    return None


class SandboxFate(StrEnum):
    """What a removal does with the sandbox's directory."""

    SET_ASIDE = "set_aside"
    LEFT_IN_PLACE = "left_in_place"
    """It is the user's own, or something else stands in its place."""
    MISSING = "missing"


class RestoreSource(StrEnum):
    """Where a restored sandbox comes from."""

    SET_ASIDE = "set_aside"
    """The directory that the removal set aside, ignored files and all."""
    CHECKPOINT = "checkpoint"
    ATTACHED = "attached"
    """The user's own directory, which never went away."""
    MOVED = "moved"
    """The sandbox itself, at a place that the user moved it to."""


@dataclass(frozen=True, slots=True)
class StateChange:
    """A plan whose state was changed by hand, and whether anything changed at all."""

    plan: Plan
    changed: bool


@dataclass(frozen=True, slots=True)
class Purge:
    """What goes for good."""

    checkpoints: int
    set_aside: tuple[Path, ...]
    freed_bytes: int


@dataclass(frozen=True, slots=True)
class RemovalResult:
    """A plan that was removed or purged; of a dry run, what would become of it."""

    plan: Plan
    dry_run: bool
    fate: SandboxFate | None
    """None for a plan that had been removed before and is now purged."""
    safety_checkpoint: Checkpoint | None
    set_aside: Path | None
    set_aside_bytes: int | None
    branch: str | None
    branch_deleted: bool
    purge: Purge | None = None
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """A sandbox that is back; of a dry run, what would come back."""

    plan: Plan
    dry_run: bool
    source: RestoreSource
    path: Path
    target: Checkpoint | None
    """The checkpoint that was brought back; None where no file was touched."""
    safety_checkpoint: Checkpoint | None = None
    restored_checkpoint: Checkpoint | None = None
    files_restored: int | None = None
    """None where an earlier command, which was interrupted, restored them."""
    verified: bool = False
    not_restored: tuple[NotRestored, ...] = ()
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BranchResult:
    """A checkpoint that is an ordinary branch now."""

    plan: Plan
    checkpoint: Checkpoint
    branch: str
    commit: CommitId


@dataclass(frozen=True, slots=True)
class ExportResult:
    """A checkpoint whose files were written somewhere."""

    plan: Plan
    checkpoint: Checkpoint
    path: Path
    files: int
    ignored_left_out: int
    """Chosen ignored files that the checkpoint holds and that were not asked for."""


@dataclass(frozen=True, slots=True)
class ApplyRequest:
    """What a caller may say about an apply; what is left out is decided by the plan."""

    onto: str | None = None
    """A branch; else the one that the plan was created from."""
    strategy: ApplyStrategy | None = None
    """Else the one that `plan.toml` names."""
    message: str | None = None
    verify: bool = True
    """Whether hooks may refuse the commit, as in git."""


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """The outcome of an apply; of a dry run, what it would be."""

    plan: Plan
    onto: str
    strategy: ApplyStrategy
    applied: bool
    """False for a dry run, and where there is nothing to apply."""
    dry_run: bool
    commit: CommitId | None
    previous_head: CommitId | None
    files: tuple[FileChange, ...]
    checkout: Path | None
    """The checkout of the branch whose files follow it."""
    safety_checkpoint: Checkpoint | None = None
    operation_id: OperationId | None = None
    messages: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to apply."""
        return not self.applied and not self.dry_run


def how_to_revert(strategy: str, commit: str, previous: str | None) -> str:
    """The command that takes an applied plan back."""
    if strategy == ApplyStrategy.MERGE:
        return f"git revert -m 1 {commit}"
    if strategy == ApplyStrategy.FF and previous:
        return f"git revert {previous}..{commit}"
    return f"git revert {commit}"
