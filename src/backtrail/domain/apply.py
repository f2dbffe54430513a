"""Bringing the outcome of a plan onto a branch of the user's: how, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.settings import ApplyStrategy

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CommitId, OperationId
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback import FileChange


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
