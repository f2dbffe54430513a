"""Detaching HEAD such that `git status` says what it said then: `HEAD detached at v1`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.plan import Sandbox, SandboxKind
from backtrail.git.gitstate import branch_checked_out_elsewhere
from backtrail.git.head_log import can_be_noted, log_leads_nowhere

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.ids import CommitId
    from backtrail.git.gitstate import GitState
    from backtrail.git.head_log import DetachedFrom
    from backtrail.git.runner import GitRunner
    from backtrail.git.store import PrivateStore

_BRANCH = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Checkout:
    """A move of HEAD that is noted as git notes it when something is checked out."""

    to: DetachedFrom
    came_from: str
    by_way_of: str | None = None
    """A branch or commit in between: git notes no move to where HEAD is already."""

    @property
    def message(self) -> str:
        return f"checkout: moving from {self.came_from} to {self.to.name}"


def plan_checkout(
    store: PrivateStore, sandbox: Sandbox, now: GitState, target: GitState
) -> Checkout | None:
    """The move after which git says of HEAD what it said; None if it does, or cannot be told."""
    to = target.detached_from
    if to is None or now.head == target.head:
        return None
    came_from = _where(now)
    if now.head_ref is not None or now.head_commit != to.commit:
        return Checkout(to, came_from)
    if target.head_commit != to.commit:
        return Checkout(to, came_from, target.head_commit)
    ours = _own_branch(store, sandbox, target)
    return Checkout(to, came_from, ours) if ours else None


def _where(now: GitState) -> str:
    """Where HEAD is, in the words of git's own notes."""
    if now.head_ref and now.head_ref.startswith(_BRANCH) and can_be_noted(now.head_ref):
        return now.head_ref.removeprefix(_BRANCH)
    return now.head_commit or "HEAD"


def _own_branch(store: PrivateStore, sandbox: Sandbox, target: GitState) -> str | None:
    """The sandbox's own branch, if HEAD can be on it for a moment."""
    branch = sandbox.branch
    if sandbox.kind is not SandboxKind.OWN or branch is None or target.branch_commit is None:
        return None
    elsewhere = branch_checked_out_elsewhere(store.common_dir, sandbox.git_dir, branch)
    return None if elsewhere else _BRANCH + branch


def detach_head(
    git: GitRunner,
    git_dir: Path,
    commit: CommitId,
    checkout: Checkout | None,
    reason: tuple[str, str],
) -> None:
    """Put HEAD on a commit and on no branch; what cannot be noted any more is not."""
    if checkout and _can_note(git, git_dir, commit, checkout):
        _step_aside(git, checkout.by_way_of, reason)
        noted = ("--create-reflog", "-m", checkout.message)
        git.call("update-ref", "--no-deref", *noted, "HEAD", checkout.to.commit)
    git.call("update-ref", "--no-deref", *reason, "HEAD", commit)


def _can_note(git: GitRunner, git_dir: Path, commit: CommitId, checkout: Checkout) -> bool:
    # The name comes from the sandbox: it is not written to where a planted link leads.
    if not log_leads_nowhere(git_dir):
        return False
    to = checkout.to.commit
    return to == commit or git.run("cat-file", "-t", to).stdout == b"commit\n"


def _step_aside(git: GitRunner, by_way_of: str | None, reason: tuple[str, str]) -> None:
    if by_way_of is None:
        return
    if by_way_of.startswith("refs/"):
        git.call("symbolic-ref", *reason, "HEAD", by_way_of)
    else:
        git.call("update-ref", "--no-deref", *reason, "HEAD", by_way_of)


def being_detached(now: GitState, old: GitState, new: GitState) -> bool:
    """Whether HEAD is where `detach_head`, on its way from the old state to the new, may leave it.

    A kill between two of its steps leaves HEAD at what it was detached from, or on the sandbox's
    own branch where that was the way.
    """
    to = new.detached_from
    if to is None or new.head_ref is not None or old.head == new.head:
        return False
    if now.head_ref is None:
        return now.head_commit == to.commit
    at_once = (old.head_ref, old.head_commit) == (None, to.commit) == (None, new.head_commit)
    on_own = now.branch is not None and now.head_ref == _BRANCH + now.branch
    return at_once and on_own and now.head_commit == now.branch_commit
