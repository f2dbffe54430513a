"""Where a sandbox can come back to and from, and putting a worktree in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.domain.operation import OperationKind
from backtrail.domain.plan import PlanState, RestoreSource, SandboxKind
from backtrail.git.store.set_aside import move
from backtrail.git.user.branches import make_branch, release_branch_lock
from backtrail.git.user.checkouts import branch_checked_out_elsewhere
from backtrail.git.user.discovery import same_directory, worktree_at
from backtrail.git.user.head import resolve_refs
from backtrail.git.user.identity import is_checkout, registered_git_dir
from backtrail.git.user.transfer import send_back
from backtrail.git.user.worktrees import connect, free_git_dir, lost_its_git_dir, moved_to, register
from backtrail.services.lifecycle.remove import set_aside_of
from backtrail.services.session.missing_sandbox import what_to_type

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.ids import CommitId
    from backtrail.domain.plan import Plan, Sandbox
    from backtrail.git.checkpoint.state import Captured
    from backtrail.git.store.set_aside import SetAside
    from backtrail.git.store.store import PrivateStore
    from backtrail.git.user.head import GitState
    from backtrail.services.session.context import Workspace


def find_source(ws: Workspace, plan: Plan, path: Path) -> RestoreSource:
    """How the sandbox can come back to a path; refuses if something else is there."""
    sandbox = plan.sandbox
    _refuse_another_plans(ws, plan, path)
    place, found = moved_to(ws.common_dir, sandbox), worktree_at(path)
    if place is not None and not same_directory(place, path):
        raise RefusedError(
            f"the sandbox of plan {plan.name!r} is still there, at {str(place)!r}",
            hint=what_to_type(plan, ws.common_dir),
        )
    own = registered_git_dir(sandbox, ws.common_dir)
    if found is not None and own is not None and same_directory(found.git_dir, own):
        return RestoreSource.MOVED
    attached = sandbox.kind is SandboxKind.ATTACHED and plan.state is PlanState.REMOVED
    if attached and found is not None and is_checkout(found, sandbox, ws.common_dir):
        return RestoreSource.ATTACHED
    _refuse_taken(ws, plan, path)
    aside = last_set_aside(ws, plan)
    if aside is not None and aside.tree.is_dir():
        return RestoreSource.SET_ASIDE
    return RestoreSource.CHECKPOINT


def _refuse_another_plans(ws: Workspace, plan: Plan, path: Path) -> None:
    with ws.database.read() as uow:
        holder = uow.plans.by_sandbox_path(ws.repository_id, str(path))
    if holder is not None and holder.plan_id != plan.plan_id:
        raise RefusedError(
            f"{str(path)!r} is the sandbox of plan {holder.name!r} now",
            hint=f"choose another place: plan restore {plan.plan_id} --path PLACE",
        )


def _refuse_taken(ws: Workspace, plan: Plan, path: Path) -> None:
    empty = path.is_dir() and not path.is_symlink() and not any(path.iterdir())
    there = path.exists() or path.is_symlink()
    if there and not empty and not lost_its_git_dir(path, ws.common_dir):
        raise RefusedError(
            f"{str(path)!r} is there, and it is not the sandbox of plan {plan.name!r}",
            hint=f"move it away, or choose another place: plan restore {plan.name} --path PLACE",
        )


def refuse_branch_in_use(ws: Workspace, plan: Plan, wanted: Captured) -> None:
    """Refuse if the branch is somebody else's business by now."""
    branch, then = plan.sandbox.branch, wanted.state.git_state
    if branch is None:
        return
    ref = f"refs/heads/{branch}"
    now = resolve_refs(ws.common_dir, [ref]).get(ref)
    moves = now != then.branch_commit
    if plan.state is PlanState.REMOVED and now is not None and moves:
        raise RefusedError(
            f"there is a branch {branch!r} that is not where the plan left it",
            hint=f"rename it, then restore: git branch -m {branch} NEW-NAME",
        )
    git_dir = registered_git_dir(plan.sandbox, ws.common_dir) or plan.sandbox.git_dir
    elsewhere = branch_checked_out_elsewhere(ws.common_dir, git_dir, branch)
    if elsewhere and (moves or then.head_ref == ref):
        raise RefusedError(
            f"branch {branch!r} is checked out in another worktree",
            hint="switch that worktree to another branch and try again",
            details={"git_dir": elsewhere},
        )


def last_set_aside(ws: Workspace, plan: Plan) -> SetAside | None:
    """What the last removal of a plan put away."""
    with ws.database.read() as uow:
        removals = uow.operations.of_kinds(plan.plan_id, (OperationKind.REMOVE,))
    return set_aside_of(removals[-1]) if removals else None


def put_in_place(
    ws: Workspace, store: PrivateStore, plan: Plan, path: Path, wanted: Captured
) -> Path:
    """Have a worktree at the path, with the files that were set aside or with none.

    Each step is left out if it was done before a crash. Gives the worktree's git directory.
    """
    sandbox, aside = plan.sandbox, last_set_aside(ws, plan)
    state = wanted.state.git_state
    ws.progress("making the sandbox")
    path.parent.mkdir(parents=True, exist_ok=True)
    if sandbox.branch is not None and state.branch_commit is not None:
        _bring_branch(ws, store, sandbox, sandbox.branch, state.branch_commit)
    if aside is not None:
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
        move(aside.tree, path)
        ws.failpoints.reach("restore.moved")
        if aside.git_dir.is_dir():
            move(aside.git_dir, free_git_dir(ws.common_dir, sandbox))
    ws.failpoints.reach("restore.git_dir_moved")
    git_dir = registered_git_dir(sandbox, ws.common_dir)
    if git_dir is None:
        git_dir = _register_again(ws, store, sandbox, path, state)
    else:
        connect(path, git_dir, sandbox)
    ws.failpoints.reach("restore.registered")
    return git_dir


def _register_again(
    ws: Workspace, store: PrivateStore, sandbox: Sandbox, path: Path, state: GitState
) -> Path:
    """A worktree whose HEAD is where it was, on the plan's own branch if it was there."""
    commit = state.head_commit or sandbox.base_commit
    if commit is None:
        raise RefusedError(
            "the sandbox had no commit yet, and git makes no worktree without one",
            hint="commit something in the repository first",
        )
    send_back(store, ws.common_dir, [commit], ())
    on_own = state.head_commit and state.head_ref == f"refs/heads/{sandbox.branch}"
    return register(ws.common_dir, sandbox, path, commit, sandbox.branch if on_own else None)


def _bring_branch(
    ws: Workspace, store: PrivateStore, sandbox: Sandbox, branch: str, commit: CommitId
) -> None:
    """Make the plan's branch again if it is gone; one that is there is moved when all else is."""
    release_branch_lock(ws.common_dir, branch, sandbox.sandbox_id)
    ref = f"refs/heads/{branch}"
    if not resolve_refs(ws.common_dir, [ref]):
        send_back(store, ws.common_dir, [commit], ())
        make_branch(store, branch, commit, sandbox.sandbox_id, "backtrail: restore")
