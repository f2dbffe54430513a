"""Plans and their sandboxes."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
