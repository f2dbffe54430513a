"""Bringing back HEAD, branch and index of a sandbox, moving no branch that is not ours to move."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.errors import BusyError, RefusedError
from backtrail.domain.plan import Sandbox, SandboxKind
from backtrail.git.branches import refuse_name_taken
from backtrail.git.durable import fsync_file
from backtrail.git.gitstate import (
    GitState,
    UserIndex,
    branch_checked_out_elsewhere,
    read_git_state,
    resolve_refs,
    user_git,
)
from backtrail.git.index_entries import same_entries
from backtrail.git.transfer import send_back

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.ids import CommitId
    from backtrail.git.runner import GitRunner
    from backtrail.git.store import PrivateStore

_BRANCH = "refs/heads/"
_INDEX_LOCK_WAIT = 5.0
_OWN_INDEX = "backtrail-index"


@dataclass(frozen=True, slots=True)
class BranchMove:
    """A compare-and-swap of one branch."""

    ref: str
    old: CommitId | None
    new: CommitId | None
    """None where the branch did not exist: it goes again."""


@dataclass(frozen=True, slots=True)
class GitStatePlan:
    """What is done to HEAD and a branch, and what has to be said about it."""

    move: BranchMove | None
    head_ref: str | None
    """The branch that HEAD is put on; None with `detach` None leaves HEAD as it is."""
    detach: CommitId | None
    messages: tuple[str, ...] = ()


def plan_git_state(
    store: PrivateStore, sandbox: Sandbox, now: GitState, target: GitState, *, move_branch: bool
) -> GitStatePlan:
    """Decide what happens to HEAD and branches; refuses what would disturb another worktree."""
    if sandbox.kind is SandboxKind.OWN:
        return _plan_own(store, sandbox, now, target)
    if move_branch and target.head_ref and target.head_commit:
        if now.head_ref != target.head_ref:
            raise RefusedError(
                f"HEAD is not on {_short(target.head_ref)!r}, the branch that would be moved",
                hint=f"git switch {_short(target.head_ref)} first, or leave --move-branch out",
            )
        _refuse_if_elsewhere(store, sandbox, target.head_ref)
        move = _move(store, sandbox, target.head_ref, target.head_commit)
        return GitStatePlan(move, target.head_ref, None)
    return _plan_attached(store, sandbox, now, target)


def _plan_own(
    store: PrivateStore, sandbox: Sandbox, now: GitState, target: GitState
) -> GitStatePlan:
    ours = f"{_BRANCH}{sandbox.branch}"
    move = None
    if target.branch_commit != now.branch_commit:
        move = _move(store, sandbox, ours, target.branch_commit)
    if target.head_ref == ours:
        if now.head_ref != ours:
            _refuse_if_elsewhere(store, sandbox, ours)
        return GitStatePlan(move, ours, None)
    if target.head_ref is None:
        return GitStatePlan(move, None, target.head_commit)
    return _head_on_foreign_branch(store, sandbox, target, move)


def _head_on_foreign_branch(
    store: PrivateStore, sandbox: Sandbox, target: GitState, move: BranchMove | None
) -> GitStatePlan:
    ref = target.head_ref or ""
    if target.head_commit is None:
        return _head_on_unborn_branch(sandbox, ref, move)
    if _free_at(store, sandbox, ref, target.head_commit):
        return GitStatePlan(move, ref, None)
    said = (
        f"HEAD was on {_short(ref)}, which no longer points there or is checked out elsewhere; "
        f"HEAD is now detached at {target.head_commit[:12]}"
    )
    return GitStatePlan(move, None, target.head_commit, (said,))


def _head_on_unborn_branch(sandbox: Sandbox, ref: str, move: BranchMove | None) -> GitStatePlan:
    if ref not in resolve_refs(sandbox.git_dir, [ref]):
        return GitStatePlan(move, ref, None)
    said = f"HEAD stays where it is: {_short(ref)} had no commit then and has one now"
    return GitStatePlan(move, None, None, (said,))


def _plan_attached(
    store: PrivateStore, sandbox: Sandbox, now: GitState, target: GitState
) -> GitStatePlan:
    if target.head_ref is None:
        return GitStatePlan(None, None, target.head_commit)
    if (now.head_ref, now.head_commit) == (target.head_ref, target.head_commit):
        return GitStatePlan(None, None, None)
    if target.head_commit and _free_at(store, sandbox, target.head_ref, target.head_commit):
        return GitStatePlan(None, target.head_ref, None)
    said = (
        f"HEAD stays where it is: {_short(target.head_ref)} was at "
        f"{(target.head_commit or 'no commit')[:12]} and an attached sandbox's branch is moved "
        "only with --move-branch"
    )
    return GitStatePlan(None, None, None, (said,))


def _short(ref: str) -> str:
    return ref.removeprefix(_BRANCH)


def _free_at(store: PrivateStore, sandbox: Sandbox, ref: str, commit: CommitId) -> bool:
    """Whether a branch still points at the commit and no other worktree has it checked out."""
    if resolve_refs(sandbox.git_dir, [ref]).get(ref) != commit:
        return False
    elsewhere = branch_checked_out_elsewhere(store.common_dir, sandbox.git_dir, _short(ref))
    return elsewhere is None


def _move(
    store: PrivateStore, sandbox: Sandbox, ref: str, commit: CommitId | None
) -> BranchMove | None:
    old = resolve_refs(sandbox.git_dir, [ref]).get(ref)
    if old == commit:
        return None
    _refuse_if_elsewhere(store, sandbox, ref)
    if user_git(sandbox.git_dir).run("symbolic-ref", "--quiet", ref).code == 0:
        raise RefusedError(
            f"branch {_short(ref)!r} is a symbolic ref: moving it would move another branch",
            hint=f"make it a branch of its own: git symbolic-ref --delete {ref}",
        )
    if old is None:
        refuse_name_taken(sandbox.git_dir, ref)
    return BranchMove(ref, old, commit)


def _refuse_if_elsewhere(store: PrivateStore, sandbox: Sandbox, ref: str) -> None:
    branch = _short(ref)
    elsewhere = branch_checked_out_elsewhere(store.common_dir, sandbox.git_dir, branch)
    if elsewhere:
        raise RefusedError(
            f"branch {branch!r} is checked out in another worktree as well",
            hint="switch that worktree to another branch and try again",
            details={"git_dir": elsewhere},
        )


def restore_git_state(
    store: PrivateStore,
    sandbox: Sandbox,
    plan: GitStatePlan,
    target: GitState,
    *,
    staged: tuple[str, ...],
    why: str,
) -> None:
    """Carry the plan out and put the index back; lost commits and staged blobs return first."""
    # The index names blobs of the target's HEAD, also where HEAD itself is not moved.
    commits = dict.fromkeys((plan.move.new if plan.move else None, plan.detach, target.head_commit))
    send_back(store, sandbox.git_dir, [commit for commit in commits if commit], staged)
    git = user_git(sandbox.git_dir, store.lock_descriptors)
    reason = ("-m", f"backtrail: {why}")
    if plan.move:
        _carry_out_move(git, plan.move, reason)
    if plan.head_ref:
        git.call("symbolic-ref", *reason, "HEAD", plan.head_ref)
    elif plan.detach:
        git.call("update-ref", "--no-deref", *reason, "HEAD", plan.detach)
    put_index(sandbox.git_dir, target.index)


def _carry_out_move(git: GitRunner, move: BranchMove, reason: tuple[str, str]) -> None:
    if move.new is None:
        git.call("update-ref", "-d", *reason, move.ref, *([move.old] if move.old else []))
        return
    old = move.old or "0" * len(move.new)
    git.call("update-ref", "--no-deref", "--create-reflog", *reason, move.ref, move.new, old)


def put_index(git_dir: Path, index: UserIndex | None) -> None:
    """Replace the index of a worktree under git's own lock, with its date."""
    path, lock, ours = git_dir / "index", git_dir / "index.lock", git_dir / _OWN_INDEX
    # The directory is the sandbox's too: nothing planted there is written through.
    ours.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(ours, flags, 0o644), "wb") as file:
        file.write(index.content if index else b"")
    try:
        if index is not None:
            # The date says which entries git may trust without looking; it belongs to the index.
            os.utime(ours, ns=(index.mtime_ns, index.mtime_ns))
        fsync_file(ours)
        _take_index_lock(ours, lock)
        if index is None:
            path.unlink(missing_ok=True)
            lock.unlink()
        else:
            lock.replace(path)
    finally:
        remove_own_index_lock(git_dir)


def _take_index_lock(ours: Path, lock: Path) -> None:
    deadline = time.monotonic() + _INDEX_LOCK_WAIT
    while True:
        try:
            os.link(ours, lock)
        except FileExistsError as error:
            if time.monotonic() >= deadline:
                raise index_busy(lock) from error
            time.sleep(0.05)
        else:
            return


def remove_own_index_lock(git_dir: Path) -> None:
    """Remove an index lock that we took and, killed, did not let go.

    The lock is a second name of a file of ours, so that it can be told from one of the user's.
    """
    ours, lock = git_dir / _OWN_INDEX, git_dir / "index.lock"
    if not os.path.lexists(ours):
        return
    if lock.exists() and lock.samefile(ours):
        lock.unlink()
    ours.unlink()


def index_busy(lock: Path) -> BusyError:
    return BusyError(
        f"another git process holds the index of the sandbox ({lock.name} exists)",
        hint=f"wait for it to end; if none is running, remove {str(lock)!r}",
    )


@dataclass(frozen=True, slots=True)
class GitProof:
    """HEAD, branch and index as they were found, and what of them is wrong, in words."""

    found: GitState
    wrong: tuple[str, ...] = ()


def prove_git_state(
    store: PrivateStore, sandbox: Sandbox, plan: GitStatePlan | None, target: GitState
) -> GitProof:
    """Look at HEAD, branch and index again; without a plan nothing is demanded of them."""
    now = read_git_state(sandbox.git_dir, sandbox.branch)
    if plan is None:
        return GitProof(now)
    wrong: list[str] = []
    if (
        plan.move
        and resolve_refs(sandbox.git_dir, [plan.move.ref]).get(plan.move.ref) != plan.move.new
    ):
        wrong.append(f"branch {_short(plan.move.ref)}")
    wanted_head = (plan.head_ref, target.head_commit)
    if plan.head_ref and (now.head_ref, now.head_commit) != wanted_head:
        wrong.append("HEAD")
    if plan.detach and (now.head_ref is not None or now.head_commit != plan.detach):
        wrong.append("HEAD")
    if not same_entries(store, now.index, target.index):
        wrong.append("the index")
    return GitProof(now, tuple(wrong))
