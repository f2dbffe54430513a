"""Bringing back HEAD, branch and index of a sandbox, moving no branch that is not ours to move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.domain.plan import Sandbox, SandboxKind
from backtrail.git.branches import refuse_name_taken
from backtrail.git.detaching import Checkout, detach_head, plan_checkout
from backtrail.git.gitstate import (
    GitState,
    branch_checked_out_elsewhere,
    read_git_state,
    resolve_refs,
    user_git,
)
from backtrail.git.index_entries import same_entries
from backtrail.git.index_replacement import put_index
from backtrail.git.transfer import send_back

if TYPE_CHECKING:
    from backtrail.domain.ids import CommitId
    from backtrail.git.runner import GitRunner
    from backtrail.git.store import PrivateStore

_BRANCH = "refs/heads/"


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
    checkout: Checkout | None = None
    """What is noted on the way to where HEAD is detached."""


def plan_git_state(
    store: PrivateStore, sandbox: Sandbox, now: GitState, target: GitState, *, move_branch: bool
) -> GitStatePlan:
    """Decide what happens to HEAD and branches; refuses what would disturb another worktree."""
    if sandbox.kind is SandboxKind.OWN:
        return _plan_own(store, sandbox, now, target)
    if move_branch and target.head_ref and target.head_commit:
        return _plan_moving(store, sandbox, now, target.head_ref, target.head_commit)
    return _plan_attached(store, sandbox, now, target)


def _plan_moving(
    store: PrivateStore, sandbox: Sandbox, now: GitState, ref: str, commit: CommitId
) -> GitStatePlan:
    """The branch of an attached sandbox, to be moved because somebody has asked for it."""
    if now.head_ref is None and _free_at(store, sandbox, ref, commit):
        # Undo of a rollback to a detached HEAD: the branch itself has not moved.
        return GitStatePlan(None, ref, None)
    if now.head_ref != ref:
        gone = resolve_refs(sandbox.git_dir, [ref]).get(ref) is None
        first = "that branch is gone:" if gone else f"git switch {_short(ref)} first, or"
        raise RefusedError(
            f"HEAD is not on {_short(ref)!r}, the branch that would be moved",
            hint=f"{first} leave --move-branch out",
        )
    _refuse_if_elsewhere(store, sandbox, ref)
    return GitStatePlan(_move(store, sandbox, ref, commit), ref, None)


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
        checkout = plan_checkout(store, sandbox, now, target)
        return GitStatePlan(move, None, target.head_commit, checkout=checkout)
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
        checkout = plan_checkout(store, sandbox, now, target)
        return GitStatePlan(None, None, target.head_commit, checkout=checkout)
    if (now.head_ref, now.head_commit) == (target.head_ref, target.head_commit):
        return GitStatePlan(None, None, None)
    if target.head_commit and _free_at(store, sandbox, target.head_ref, target.head_commit):
        return GitStatePlan(None, target.head_ref, None)
    why = _why_head_stays(sandbox, now, target.head_ref, target.head_commit)
    return GitStatePlan(None, None, None, (f"HEAD stays where it is: {why}",))


def _why_head_stays(sandbox: Sandbox, now: GitState, ref: str, commit: CommitId | None) -> str:
    branch = _short(ref)
    if commit is None:
        return f"{branch} had no commit then, and the branch of an attached sandbox is yours"
    if resolve_refs(sandbox.git_dir, [ref]).get(ref) is None:
        return f"the branch {branch}, which was at {commit[:12]}, is gone"
    first = "" if now.head_ref == ref else f", after git switch {branch}"
    return (
        f"{branch} was at {commit[:12]} and an attached sandbox's branch is moved "
        f"only with --move-branch{first}"
    )


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
    git = user_git(sandbox.git_dir, store)
    reason = ("-m", f"backtrail: {why}")
    if plan.move:
        _carry_out_move(git, plan.move, reason)
    if plan.head_ref:
        git.call("symbolic-ref", *reason, "HEAD", plan.head_ref)
    elif plan.detach:
        detach_head(git, sandbox.git_dir, plan.detach, plan.checkout, reason)
    put_index(sandbox.git_dir, target.index, deadline=store.deadline)


def _carry_out_move(git: GitRunner, move: BranchMove, reason: tuple[str, str]) -> None:
    if move.new is None:
        git.call("update-ref", "-d", *reason, move.ref, *([move.old] if move.old else []))
        return
    old = move.old or "0" * len(move.new)
    git.call("update-ref", "--no-deref", "--create-reflog", *reason, move.ref, move.new, old)


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
