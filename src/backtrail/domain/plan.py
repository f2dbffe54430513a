"""Plans and their sandboxes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from backtrail.domain.errors import UsageError

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from backtrail.domain.ids import CommitId, PlanId, SandboxId

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
