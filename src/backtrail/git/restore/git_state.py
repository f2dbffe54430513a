"""Bringing back HEAD, branches, index and what was under way, moving no branch but ours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from backtrail.domain.errors import RefusedError
from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from backtrail.domain.ids import CommitId
from backtrail.domain.plan import Sandbox, SandboxKind
from backtrail.domain.rollback import NotRestored, Part
from backtrail.git.checkpoint.state import SandboxState
from backtrail.git.process.runner import GitRunner
from backtrail.git.store.store import PrivateStore
from backtrail.git.user.branches import make_branch, put_head_on, where_it_can_return
from backtrail.git.user.checkouts import branch_checked_out_elsewhere
from backtrail.git.user.head import (
    HEADS,
    DetachedFrom,
    GitState,
    can_be_noted,
    log_leads_nowhere,
    read_git_state,
    resolve_refs,
    user_git,
)
from backtrail.git.user.identity import opened_git_dir
from backtrail.git.user.index import put_index, same_entries, with_present_dates
from backtrail.git.user.merge_state import MergeState, put_merge_state, wrong_merge_state
from backtrail.git.user.transfer import Named, send_back, send_back_tags


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
    if now.head_ref and now.head_ref.startswith(HEADS) and can_be_noted(now.head_ref):
        return now.head_ref.removeprefix(HEADS)
    return now.head_commit or "HEAD"


def _own_branch(store: PrivateStore, sandbox: Sandbox, target: GitState) -> str | None:
    """The sandbox's own branch, if HEAD can be on it for a moment."""
    branch = sandbox.branch
    if sandbox.kind is not SandboxKind.OWN or branch is None or target.branch_commit is None:
        return None
    elsewhere = branch_checked_out_elsewhere(store.common_dir, sandbox.git_dir, branch)
    return None if elsewhere else HEADS + branch


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
    on_own = now.branch is not None and now.head_ref == HEADS + now.branch
    return at_once and on_own and now.head_commit == now.branch_commit


@dataclass(frozen=True, slots=True)
class BranchMove:
    """A compare-and-swap of one branch."""

    ref: str
    old: CommitId | None
    new: CommitId | None
    """None where the branch did not exist: it goes again."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What of an attached sandbox's git state somebody has asked for besides."""

    move_branch: bool = False
    during_merge: bool = False


@dataclass(frozen=True, slots=True)
class GitStatePlan:
    """What is done to HEAD and branches, and what has to be said about it."""

    moves: tuple[BranchMove, ...] = ()
    head_ref: str | None = None
    """The branch that HEAD is put on; None with `detach` None leaves HEAD as it is."""
    detach: CommitId | None = None
    not_restored: tuple[NotRestored, ...] = ()
    checkout: Checkout | None = None
    """What is noted on the way to where HEAD is detached."""
    merge: MergeState | None = None
    """What is under way afterwards; None leaves that as it is."""
    remarks: tuple[str, ...] = ()

    @property
    def messages(self) -> tuple[str, ...]:
        return (*(note.reason for note in self.not_restored), *self.remarks)

    @property
    def proven(self) -> tuple[Part, ...]:
        """What a second look at HEAD, index and all else is about."""
        without = {note.part for note in self.not_restored}
        if self.merge is None:
            without.add(Part.UNDER_WAY)
        return tuple(part for part in Part if part not in without)


def plan_git_state(
    store: PrivateStore, sandbox: Sandbox, now: GitState, target: GitState, asked: Asked
) -> GitStatePlan:
    """Decide what happens to HEAD and branches; refuses what would disturb another worktree."""
    own = sandbox.kind is SandboxKind.OWN
    if own:
        plan = _plan_own(store, sandbox, now, target)
    elif asked.move_branch:
        plan = _plan_moving(store, sandbox, now, target)
    else:
        plan = _plan_attached(store, sandbox, now, target)
    if own or asked.during_merge:
        return _with_merge(plan, now.merge, target.merge, own=own)
    if target.merge.what:
        return _without(plan, Part.UNDER_WAY, _left_to_the_user(target.merge.what))
    return plan


def branches_of(target: GitState) -> dict[str, CommitId | None]:
    """The branches that a state knows, with where they were: HEAD's and those that were moved."""
    head = {target.head_ref: target.head_commit} if target.head_ref else {}
    found = {**dict(target.branches), **head}
    return {ref: commit for ref, commit in found.items() if ref.startswith(HEADS)}


def _plan_moving(
    store: PrivateStore, sandbox: Sandbox, now: GitState, target: GitState
) -> GitStatePlan:
    """The branch of an attached sandbox, to be moved because somebody has asked for it."""
    ref = target.head_ref
    if ref and (target.head_commit is None or not ref.startswith(HEADS)):
        wanted = dict(target.branches)
        plan = _head_on_unborn_branch(sandbox, ref)
    else:
        wanted = branches_of(target)
        plan = GitStatePlan(head_ref=ref)
        if ref is None:
            checkout = plan_checkout(store, sandbox, now, target)
            plan = GitStatePlan(detach=target.head_commit, checkout=checkout)
        elif now.head_ref != ref:
            _refuse_if_elsewhere(store, sandbox, ref)
    moves = (_move(store, sandbox, branch, commit) for branch, commit in wanted.items())
    # What goes makes room for what comes.
    found = sorted((move for move in moves if move), key=lambda move: move.new is not None)
    return replace(plan, moves=tuple(found))


def _plan_own(
    store: PrivateStore, sandbox: Sandbox, now: GitState, target: GitState
) -> GitStatePlan:
    ours = f"{HEADS}{sandbox.branch}"
    moves = ()
    if target.branch_commit != now.branch_commit:
        move = _move(store, sandbox, ours, target.branch_commit)
        moves = (move,) if move else ()
    if target.head_ref == ours:
        if now.head_ref != ours:
            _refuse_if_elsewhere(store, sandbox, ours)
        return GitStatePlan(moves, ours)
    if target.head_ref is None:
        checkout = plan_checkout(store, sandbox, now, target)
        return GitStatePlan(moves, None, target.head_commit, checkout=checkout)
    return replace(_head_on_foreign_branch(store, sandbox, target), moves=moves)


def _head_on_foreign_branch(
    store: PrivateStore, sandbox: Sandbox, target: GitState
) -> GitStatePlan:
    ref = target.head_ref or ""
    if target.head_commit is None:
        return _head_on_unborn_branch(sandbox, ref)
    if _free_at(store, sandbox, ref, target.head_commit):
        return GitStatePlan(head_ref=ref)
    said = (
        f"HEAD was on {_short(ref)}, which no longer points there or is checked out elsewhere; "
        f"HEAD is now detached at {target.head_commit[:12]}"
    )
    return _without(GitStatePlan(detach=target.head_commit), Part.HEAD, said)


def _head_on_unborn_branch(sandbox: Sandbox, ref: str) -> GitStatePlan:
    if ref not in resolve_refs(sandbox.git_dir, [ref]):
        return GitStatePlan(head_ref=ref)
    said = f"HEAD stays where it is: {_short(ref)} had no commit then and has one now"
    return _without(GitStatePlan(), Part.HEAD, said)


def _plan_attached(
    store: PrivateStore, sandbox: Sandbox, now: GitState, target: GitState
) -> GitStatePlan:
    ref, commit = target.head_ref, target.head_commit
    if ref is None:
        return GitStatePlan(detach=commit, checkout=plan_checkout(store, sandbox, now, target))
    if (now.head_ref, now.head_commit) == (ref, commit):
        return GitStatePlan()
    if commit is None:
        return _head_on_unborn_branch(sandbox, ref)
    if _free_at(store, sandbox, ref, commit):
        return GitStatePlan(head_ref=ref)
    said = f"HEAD stays where it is: {_why_head_stays(sandbox, ref, commit)}"
    return _without(GitStatePlan(), Part.HEAD, said)


def _why_head_stays(sandbox: Sandbox, ref: str, commit: CommitId) -> str:
    branch = _short(ref)
    if resolve_refs(sandbox.git_dir, [ref]).get(ref) is None:
        return (
            f"the branch {branch}, which was at {commit[:12]}, is gone; "
            "--move-branch makes it again"
        )
    return (
        f"{branch} was at {commit[:12]} and an attached sandbox's branch is moved "
        "only with --move-branch"
    )


def _without(plan: GitStatePlan, part: Part, why: str) -> GitStatePlan:
    return replace(plan, not_restored=(*plan.not_restored, NotRestored(part, why)))


def _left_to_the_user(what: str) -> str:
    return (
        f"{what} was under way at the checkpoint; in an attached sandbox it comes back "
        "only with --during-merge"
    )


def _with_merge(
    plan: GitStatePlan, now: MergeState, target: MergeState, *, own: bool
) -> GitStatePlan:
    """What is under way afterwards: what was, as far as a checkpoint can hold it."""
    if now.problem:
        raise RefusedError(
            f"the state of git in the sandbox cannot be saved: {now.problem}",
            hint="a rollback would destroy it: finish or abort what is under way, or remove that",
        )
    if target.what and not own and any(note.part is Part.HEAD for note in plan.not_restored):
        said = f"{target.what} was under way at the checkpoint; with HEAD elsewhere it is not again"
        return replace(_without(plan, Part.UNDER_WAY, said), merge=now.lasting())
    if target.problem:
        plan = replace(plan, merge=now.lasting())
        if target.what:
            said = f"{target.what} was under way at the checkpoint and is not again"
            plan = _without(plan, Part.UNDER_WAY, f"{said}: {target.problem}")
    else:
        plan = replace(plan, merge=target)
    return replace(plan, remarks=_said_of_it(now, plan.merge or now))


def _said_of_it(now: MergeState, then: MergeState) -> tuple[str, ...]:
    if then.what and then.files != now.files:
        return (f"{then.what} is under way again, as it was at the checkpoint",)
    if now.what and not then.what:
        return (f"{now.what} was under way and is no longer: plan undo brings that back as well",)
    return ()


def _short(ref: str) -> str:
    return ref.removeprefix(HEADS)


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
        where_it_can_return(sandbox.git_dir, _short(ref))
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
    target: SandboxState,
    *,
    why: str,
    failpoints: Failpoints = NO_FAILPOINTS,
) -> None:
    """Carry the plan out and put the index back; what the repository has lost returns first."""
    with opened_git_dir(sandbox, store.common_dir) as directory:
        _bring_about(store, sandbox, directory, plan, target, why, failpoints)


def _bring_about(
    store: PrivateStore,
    sandbox: Sandbox,
    directory: int,
    plan: GitStatePlan,
    target: SandboxState,
    why: str,
    failpoints: Failpoints,
) -> None:
    state, git_dir = target.git_state, sandbox.git_dir
    named = target.named if plan.merge is state.merge else Named()
    # The index names blobs of the target's HEAD, also where HEAD itself is not moved.
    tips = (*(move.new for move in plan.moves), plan.detach, state.head_commit, *named.tips)
    send_back(store, git_dir, [tip for tip in dict.fromkeys(tips) if tip], target.staged)
    send_back_tags(store, git_dir, named.tags)
    git = user_git(git_dir, store)
    reason = ("-m", f"backtrail: {why}")
    for move in plan.moves:
        _carry_out_move(store, sandbox, git, move, reason)
        failpoints.reach("branch.moved")
    if plan.head_ref:
        put_head_on(store, directory, git_dir, plan.head_ref, state.head_commit, reason[1])
    elif plan.detach:
        detach_head(git, git_dir, plan.detach, plan.checkout, reason)
    index = state.index
    if index and plan.merge and plan.merge.what:
        index = with_present_dates(store, sandbox.path, index)
    put_index(directory, git_dir, index, deadline=store.deadline)
    if plan.merge is not None:
        put_merge_state(git_dir, directory, plan.merge, failpoints)


def _carry_out_move(
    store: PrivateStore,
    sandbox: Sandbox,
    git: GitRunner,
    move: BranchMove,
    reason: tuple[str, str],
) -> None:
    if move.new is None:
        git.call("update-ref", "-d", *reason, move.ref, *([move.old] if move.old else []))
        return
    branch = move.ref.removeprefix(HEADS)
    if move.old is None and branch == sandbox.branch:
        make_branch(store, branch, move.new, sandbox.sandbox_id, reason[1])
        return
    log = ("--no-deref", "--create-reflog", *reason)
    git.call("update-ref", *log, move.ref, move.new, move.old or "0" * len(move.new))


@dataclass(frozen=True, slots=True)
class GitProof:
    """HEAD, branch, index and what is under way as found, and what is wrong, in words."""

    found: GitState
    wrong: tuple[str, ...] = ()


def prove_git_state(
    store: PrivateStore, sandbox: Sandbox, plan: GitStatePlan | None, target: GitState
) -> GitProof:
    """Look at HEAD, branches and index again; without a plan nothing is demanded of them."""
    now = read_git_state(sandbox.git_dir, sandbox.branch)
    if plan is None:
        return GitProof(now)
    refs = resolve_refs(sandbox.git_dir, [move.ref for move in plan.moves])
    wrong = [f"branch {_short(m.ref)}" for m in plan.moves if refs.get(m.ref) != m.new]
    head = (target.head_ref, target.head_commit) if Part.HEAD in plan.proven else None
    if plan.detach:
        head = (None, plan.detach)
    if head and (now.head_ref, now.head_commit) != head:
        wrong.append("HEAD")
    if not same_entries(store, now.index, target.index):
        wrong.append("the index")
    if plan.merge is not None:
        wrong += wrong_merge_state(sandbox.git_dir, plan.merge)
    return GitProof(now, tuple(wrong))
