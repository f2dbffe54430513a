"""What a removal finds: whether the sandbox is there, what becomes of it, what is against it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError, SandboxGoneError, SandboxInvalidError
from backtrail.domain.lifecycle import SandboxFate
from backtrail.domain.plan import SandboxKind
from backtrail.git.aside import SetAside, place_for
from backtrail.git.commits import read_checkpoint
from backtrail.git.gitstate import branch_checked_out_elsewhere, resolve_refs
from backtrail.git.identity import registered_git_dir
from backtrail.git.locks import wait_for_git
from backtrail.git.registration import moved_to
from backtrail.services.guards import check_no_run, check_sandbox_quiet
from backtrail.services.whereabouts import refuse_removed

if TYPE_CHECKING:
    from backtrail.domain.ids import CommitId
    from backtrail.domain.plan import Plan, Sandbox
    from backtrail.git.store import PrivateStore
    from backtrail.services.workspace import LockedSandbox, Workspace


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is to remove."""

    sandbox: Sandbox
    locked: LockedSandbox | None
    """The sandbox, if it is there and ours to look at."""
    fate: SandboxFate
    registered: bool = False
    """Whether a directory below `.git/worktrees` has to go with it."""
    branch: str | None = None
    """The branch that goes."""
    branch_commit: CommitId | None = None
    messages: tuple[str, ...] = ()

    def place(self, ws: Workspace) -> SetAside | None:
        """Where it is moved; None if nothing is moved."""
        if self.fate is not SandboxFate.SET_ASIDE and not self.registered:
            return None
        return place_for(ws.layout, self.sandbox, ws.common_dir)


def survey(ws: Workspace, plan: Plan, store: PrivateStore, *, keep_branch: bool) -> Survey:
    """Look at a plan that is to be removed; refuses what would disturb somebody."""
    refuse_removed(plan)
    try:
        locked = ws.entered(plan, store)
    except SandboxInvalidError as error:
        return _without_sandbox(ws, plan, error, keep_branch=keep_branch)
    check_no_run(ws, plan, end=f"plan abort {plan.name}")
    sandbox = locked.sandbox
    if sandbox.kind is SandboxKind.ATTACHED:
        return Survey(sandbox, locked, SandboxFate.LEFT_IN_PLACE)
    check_sandbox_quiet(locked)
    _refuse_locked(sandbox)
    branch = None if keep_branch else sandbox.branch
    if branch is not None:
        _refuse_if_elsewhere(ws, sandbox, branch)
        # Deleting it comes last, when the sandbox has gone already.
        lock = ws.common_dir / "packed-refs.lock"
        wait_for_git(lock, "is about to change all branches", store.deadline)
    return Survey(sandbox, locked, SandboxFate.SET_ASIDE, registered=True, branch=branch)


def _refuse_locked(sandbox: Sandbox) -> None:
    if (sandbox.git_dir / "locked").exists():
        raise RefusedError(
            "the sandbox was locked with git worktree lock",
            hint=f"git worktree unlock {str(sandbox.path)!r} unlocks it",
        )


def _refuse_if_elsewhere(ws: Workspace, sandbox: Sandbox, branch: str) -> None:
    elsewhere = branch_checked_out_elsewhere(ws.common_dir, sandbox.git_dir, branch)
    if elsewhere:
        raise RefusedError(
            f"branch {branch!r} is checked out in another worktree as well",
            hint="--keep-branch leaves it, or switch that worktree to another branch",
            details={"git_dir": elsewhere},
        )


def _without_sandbox(
    ws: Workspace, plan: Plan, error: SandboxInvalidError, *, keep_branch: bool
) -> Survey:
    """A plan whose sandbox is gone or something else: no directory is touched."""
    sandbox = plan.sandbox
    if moved_to(ws.common_dir, sandbox) is not None:
        raise error
    there = sandbox.path.exists()
    said = (f"{error.message}: it is left as it is",) if there else ()
    branch = None if keep_branch else sandbox.branch
    commit, why_not = _safe_commit(ws, plan, branch) if branch else (None, None)
    if why_not:
        said = (*said, f"branch {branch} stays: {why_not}")
        branch = commit = None
    gone = isinstance(error, SandboxGoneError) and not there
    git_dir = registered_git_dir(sandbox, ws.common_dir) if gone else None
    return Survey(
        sandbox=replace(sandbox, git_dir=git_dir) if git_dir else sandbox,
        locked=None,
        fate=SandboxFate.LEFT_IN_PLACE if there else SandboxFate.MISSING,
        registered=git_dir is not None,
        branch=branch,
        branch_commit=commit,
        messages=said,
    )


def _safe_commit(ws: Workspace, plan: Plan, branch: str) -> tuple[CommitId | None, str | None]:
    """What the branch points at, and why it may not go: all that is lost must be in the store."""
    ref = f"refs/heads/{branch}"
    commit = resolve_refs(ws.common_dir, [ref]).get(ref)
    if commit is None:
        return None, None
    if branch_checked_out_elsewhere(ws.common_dir, plan.sandbox.git_dir, branch):
        return commit, "it is checked out in another worktree"
    with ws.database.read() as uow:
        latest = uow.checkpoints.latest(plan.plan_id)
    safe = {plan.sandbox.base_commit}
    if latest is not None and latest.sandbox_ref is not None:
        captured = read_checkpoint(ws.store, latest.sandbox_ref).captured
        safe.add(captured.state.git_state.branch_commit)
    return commit, None if commit in safe else "no checkpoint holds what it points at"
