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
from backtrail.git.user.branches import (
    StandIn,
    make_branch,
    put_head_on,
    stand_in,
    where_it_can_return,
)
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
from backtrail.git.user.transfer import Named, lost_commits, send_back, send_back_tags


@dataclass(frozen=True, slots=True)
class HeadMove:
    """A move of HEAD that is noted as git notes it when something is checked out."""

    to: DetachedFrom
    came_from: str
    by_way_of: str | None = None
    """A branch or commit in between: git notes no move to where HEAD is already."""

    @property
    def message(self) -> str:
        return f"checkout: moving from {self.came_from} to {self.to.name}"


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
    noted: HeadMove | None = None
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

    def without(self, part: Part, why: str) -> GitStatePlan:
        return replace(self, not_restored=(*self.not_restored, NotRestored(part, why)))


def plan_git_state(
    store: PrivateStore, sandbox: Sandbox, now: GitState, target: GitState, asked: Asked
) -> GitStatePlan:
    """Decide what happens to HEAD and branches; refuses what would disturb another worktree."""
    planner, own = _Planner(store, sandbox, now, target), sandbox.kind is SandboxKind.OWN
    begin = planner.moving if asked.move_branch else planner.attached
    plan = planner.own() if own else begin()
    if own or asked.during_merge:
        return planner.with_merge(plan, own=own)
    if target.merge.what:
        said = (
            f"{target.merge.what} was under way at the checkpoint; in an attached sandbox it "
            "comes back only with --during-merge"
        )
        return plan.without(Part.UNDER_WAY, said)
    return plan


def branches_of(target: GitState) -> dict[str, CommitId | None]:
    """The branches that a state knows, with where they were: HEAD's and those that were moved."""
    head = {target.head_ref: target.head_commit} if target.head_ref else {}
    found = {**dict(target.branches), **head}
    return {ref: commit for ref, commit in found.items() if ref.startswith(HEADS)}


@dataclass(frozen=True, slots=True)
class _Planner:
    """The way from one git state of a sandbox to another."""

    store: PrivateStore
    sandbox: Sandbox
    now: GitState
    target: GitState

    def own(self) -> GitStatePlan:
        target, ours = self.target, f"{HEADS}{self.sandbox.branch}"
        moves = ()
        if target.branch_commit != self.now.branch_commit:
            move = self._move(ours, target.branch_commit)
            moves = (move,) if move else ()
        if target.head_ref == ours:
            if self.now.head_ref != ours:
                self._refuse_if_elsewhere(ours)
            return GitStatePlan(moves, ours)
        if target.head_ref is None:
            return replace(self._detached(), moves=moves)
        return replace(self._on_foreign_branch(target.head_ref), moves=moves)

    def moving(self) -> GitStatePlan:
        """The branch of an attached sandbox, to be moved because somebody has asked for it."""
        ref, wanted = self.target.head_ref, branches_of(self.target)
        if ref and (self.target.head_commit is None or not ref.startswith(HEADS)):
            wanted = dict(self.target.branches)
            plan = self._on_unborn_branch(ref)
        elif ref is None:
            plan = self._detached()
        else:
            plan = GitStatePlan(head_ref=ref)
            if self.now.head_ref != ref:
                self._refuse_if_elsewhere(ref)
        moves = (self._move(branch, commit) for branch, commit in wanted.items())
        # What goes makes room for what comes.
        found = sorted((move for move in moves if move), key=lambda move: move.new is not None)
        return replace(plan, moves=tuple(found))

    def attached(self) -> GitStatePlan:
        ref, commit = self.target.head_ref, self.target.head_commit
        if ref is None:
            return self._detached()
        if (self.now.head_ref, self.now.head_commit) == (ref, commit):
            return GitStatePlan()
        if commit is None:
            return self._on_unborn_branch(ref)
        at, branch = self._at(ref), _short(ref)
        if at == commit and self._elsewhere(ref) is None:
            return GitStatePlan(head_ref=ref)
        why = (
            f"{branch} was at {commit[:12]} and an attached sandbox's branch is moved "
            "only with --move-branch"
        )
        if at is None:
            why = (
                f"the branch {branch}, which was at {commit[:12]}, is gone; "
                "--move-branch makes it again"
            )
        return GitStatePlan().without(Part.HEAD, f"HEAD stays where it is: {why}")

    def _on_foreign_branch(self, ref: str) -> GitStatePlan:
        commit = self.target.head_commit
        if commit is None:
            return self._on_unborn_branch(ref)
        if self._at(ref) == commit and self._elsewhere(ref) is None:
            return GitStatePlan(head_ref=ref)
        said = (
            f"HEAD was on {_short(ref)}, which no longer points there or is checked out "
            f"elsewhere; HEAD is now detached at {commit[:12]}"
        )
        return GitStatePlan(detach=commit).without(Part.HEAD, said)

    def _on_unborn_branch(self, ref: str) -> GitStatePlan:
        if self._at(ref) is None:
            return GitStatePlan(head_ref=ref)
        said = f"HEAD stays where it is: {_short(ref)} had no commit then and has one now"
        return GitStatePlan().without(Part.HEAD, said)

    def _detached(self) -> GitStatePlan:
        return GitStatePlan(detach=self.target.head_commit, noted=self._noted())

    def _noted(self) -> HeadMove | None:
        """The move after which git says of HEAD what it said; None if it does, or cannot tell."""
        now, target, to = self.now, self.target, self.target.detached_from
        if to is None or now.head == target.head:
            return None
        came_from = now.head_commit or "HEAD"
        if now.head_ref and now.head_ref.startswith(HEADS) and can_be_noted(now.head_ref):
            came_from = _short(now.head_ref)
        if now.head_ref is not None or now.head_commit != to.commit:
            return HeadMove(to, came_from)
        if target.head_commit != to.commit:
            return HeadMove(to, came_from, target.head_commit)
        ours = self._own_branch()
        return HeadMove(to, came_from, ours) if ours else None

    def _own_branch(self) -> str | None:
        """The sandbox's own branch, if HEAD can be on it for a moment."""
        own, branch = self.sandbox.kind is SandboxKind.OWN, self.sandbox.branch
        if not own or branch is None or self.target.branch_commit is None:
            return None
        return None if self._elsewhere(HEADS + branch) else HEADS + branch

    def _move(self, ref: str, commit: CommitId | None) -> BranchMove | None:
        old = self._at(ref)
        if old == commit:
            return None
        self._refuse_if_elsewhere(ref)
        if user_git(self.sandbox.git_dir).run("symbolic-ref", "--quiet", ref).code == 0:
            raise RefusedError(
                f"branch {_short(ref)!r} is a symbolic ref: moving it would move another branch",
                hint=f"make it a branch of its own: git symbolic-ref --delete {ref}",
            )
        if old is None:
            where_it_can_return(self.sandbox.git_dir, _short(ref))
        log = f"logs/{ref}"
        if not log_leads_nowhere(self.store.common_dir, log):
            raise RefusedError(
                f"the log of branch {_short(ref)!r} is no plain file of its own: git would write "
                "to wherever it leads",
                hint=f"move it away and try again: {self.store.common_dir / log}",
            )
        return BranchMove(ref, old, commit)

    def _at(self, ref: str) -> CommitId | None:
        return resolve_refs(self.sandbox.git_dir, [ref]).get(ref)

    def _elsewhere(self, ref: str) -> str | None:
        """The git directory of another worktree that has the branch checked out."""
        common_dir, git_dir = self.store.common_dir, self.sandbox.git_dir
        return branch_checked_out_elsewhere(common_dir, git_dir, _short(ref))

    def _refuse_if_elsewhere(self, ref: str) -> None:
        elsewhere = self._elsewhere(ref)
        if elsewhere:
            raise RefusedError(
                f"branch {_short(ref)!r} is checked out in another worktree as well",
                hint="switch that worktree to another branch and try again",
                details={"git_dir": elsewhere},
            )

    def with_merge(self, plan: GitStatePlan, *, own: bool) -> GitStatePlan:
        """What is under way afterwards: what was, as far as a checkpoint can hold it."""
        now, target = self.now.merge, self.target.merge
        if now.problem:
            raise RefusedError(
                f"the state of git in the sandbox cannot be saved: {now.problem}",
                hint="a rollback would destroy it: finish or abort what is under way, "
                "or remove that",
            )
        said = f"{target.what} was under way at the checkpoint"
        if target.what and not own and any(note.part is Part.HEAD for note in plan.not_restored):
            said = f"{said}; with HEAD elsewhere it is not again"
            return replace(plan.without(Part.UNDER_WAY, said), merge=now.lasting())
        then = now.lasting() if target.problem else target
        if target.problem and target.what:
            plan = plan.without(Part.UNDER_WAY, f"{said} and is not again: {target.problem}")
        return replace(plan, merge=then, remarks=_about_merge(now, then))


def _about_merge(now: MergeState, then: MergeState) -> tuple[str, ...]:
    if then.what and then.files != now.files:
        return (f"{then.what} is under way again, as it was at the checkpoint",)
    if now.what and not then.what:
        return (f"{now.what} was under way and is no longer: plan undo brings that back as well",)
    return ()


def _short(ref: str) -> str:
    return ref.removeprefix(HEADS)


def restore_git_state(
    store: PrivateStore,
    sandbox: Sandbox,
    plan: GitStatePlan,
    target: SandboxState,
    *,
    why: str,
    failpoints: Failpoints = NO_FAILPOINTS,
) -> GitStatePlan:
    """Carry the plan out and put the index back; what the repository has lost returns first.

    Gives the plan as it was carried out.
    """
    state, git_dir = target.git_state, sandbox.git_dir
    with opened_git_dir(sandbox, store.common_dir) as directory:
        _send_back(store, git_dir, plan, target)
        plan = _with_lost_commits(store, plan)
        said = _move_branches_and_head(store, sandbox, directory, plan, state, why, failpoints)
        index = state.index
        if index and plan.merge and plan.merge.what:
            index = with_present_dates(store, sandbox.path, index)
        put_index(directory, git_dir, index, deadline=store.deadline)
        if plan.merge is not None:
            put_merge_state(git_dir, directory, plan.merge, failpoints)
    return replace(plan, remarks=(*plan.remarks, *said))


def _send_back(
    store: PrivateStore, git_dir: Path, plan: GitStatePlan, target: SandboxState
) -> None:
    named = target.named if plan.merge is target.git_state.merge else Named()
    # The index names blobs of the target's HEAD, also where HEAD itself is not moved.
    tips = (*(m.new for m in plan.moves), plan.detach, target.git_state.head_commit, *named.tips)
    send_back(store, git_dir, [tip for tip in dict.fromkeys(tips) if tip], target.staged)
    send_back_tags(store, git_dir, named.tags)


def _with_lost_commits(store: PrivateStore, plan: GitStatePlan) -> GitStatePlan:
    """The plan, which promises less if the repository lacks what git would go on by."""
    needed = plan.merge.goes_by if plan.merge else {}
    lost = lost_commits(store, list(needed)) if needed else []
    if plan.merge is None or not lost:
        return plan
    more = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
    said = (
        f"the notes of {plan.merge.what} are back, but git cannot go on by them: "
        f".git/{needed[lost[0]]} names commit {lost[0][:12]}, which is lost{more}"
    )
    return replace(plan.without(Part.UNDER_WAY, said), remarks=())


def _move_branches_and_head(
    store: PrivateStore,
    sandbox: Sandbox,
    directory: int,
    plan: GitStatePlan,
    state: GitState,
    why: str,
    failpoints: Failpoints,
) -> tuple[str, ...]:
    """Carry out what is planned for branches, then for HEAD; gives what is worth saying."""
    git_dir, reason, said = sandbox.git_dir, ("-m", f"backtrail: {why}"), ()
    if plan.moves or plan.detach:
        with stand_in(store, directory, git_dir) as stand:
            for move in plan.moves:
                _move_branch(store, sandbox, stand.git, move, reason)
                said += stand.hand_over()
                failpoints.reach("branch.moved")
            if plan.detach:
                said += _detach_head(stand, plan.detach, plan.noted, reason)
    if plan.head_ref:
        head, commit = plan.head_ref, state.head_commit
        said += put_head_on(store, directory, git_dir, head, commit, reason[1])
    return tuple(dict.fromkeys(said))


def _move_branch(
    store: PrivateStore,
    sandbox: Sandbox,
    git: GitRunner,
    move: BranchMove,
    reason: tuple[str, str],
) -> None:
    branch = _short(move.ref)
    if move.new is None:
        git.call("update-ref", "-d", *reason, move.ref, *([move.old] if move.old else []))
    elif move.old is None and branch == sandbox.branch:
        make_branch(store, branch, move.new, sandbox.sandbox_id, reason[1])
    else:
        log = ("--no-deref", "--create-reflog", *reason)
        git.call("update-ref", *log, move.ref, move.new, move.old or "0" * len(move.new))


def _detach_head(
    stand: StandIn, commit: CommitId, noted: HeadMove | None, reason: tuple[str, str]
) -> tuple[str, ...]:
    """Put HEAD on a commit and on no branch; what cannot be noted any more is not.

    Gives what is worth saying.
    """
    git, said = stand.git, ()
    if noted and _can_note(git, commit, noted):
        aside = noted.by_way_of
        if aside and aside.startswith("refs/"):
            git.call("symbolic-ref", *reason, "HEAD", aside)
        elif aside:
            git.call("update-ref", "--no-deref", *reason, "HEAD", aside)
        words = ("--no-deref", "--create-reflog", "-m", noted.message)
        git.call("update-ref", *words, "HEAD", noted.to.commit)
        said = stand.put_head_at(noted.to.commit)
    git.call("update-ref", "--no-deref", *reason, "HEAD", commit)
    return (*said, *stand.put_head_at(commit))


def _can_note(git: GitRunner, commit: CommitId, noted: HeadMove) -> bool:
    to = noted.to.commit
    return to == commit or git.run("cat-file", "-t", to).stdout == b"commit\n"


def being_detached(now: GitState, old: GitState, new: GitState) -> bool:
    """Whether HEAD is where a restore, on its way from the old state to the new, may leave it.

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
