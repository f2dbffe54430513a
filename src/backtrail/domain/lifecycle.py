"""What cancelling, removing, purging and restoring a plan did or would do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CommitId
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback import NotRestored


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
