"""Where a plan is applied to, and what speaks against it before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.errors import NotFoundError, RefusedError, UsageError
from backtrail.domain.plan import PlanState
from backtrail.domain.settings import ApplyStrategy
from backtrail.git.applying.checkout import refuse_busy
from backtrail.git.user.checkouts import Checkout, checkouts_of
from backtrail.git.user.discovery import same_directory
from backtrail.git.user.head import resolve_refs, user_git

if TYPE_CHECKING:
    from backtrail.domain.ids import CommitId
    from backtrail.domain.plan import Plan
    from backtrail.services.session.context import LockedSandbox


_HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Target:
    """A branch, where it is, and who has it checked out."""

    branch: str
    old: CommitId | None
    """None for a branch that has no commit yet."""
    checkout: Checkout | None
    in_place: bool
    """Whether the sandbox itself has the branch checked out."""

    @property
    def ref(self) -> str:
        return _HEADS + self.branch


def check_plan_allows_apply(plan: Plan) -> None:
    if plan.state is PlanState.APPLIED:
        raise RefusedError(
            f"plan {plan.name!r} has been applied already, as {plan.applied_commit}",
            hint="create a new plan for further work",
        )
    end = "was cancelled" if plan.state is PlanState.CANCELLED else plan.state.end
    if end:
        raise RefusedError(
            f"plan {plan.name!r} {end}: it cannot be applied",
            hint="plan status shows where it stands",
        )


def find_target(locked: LockedSandbox, onto: str | None, strategy: ApplyStrategy) -> Target:
    """The branch that is meant, looked at once."""
    ws = locked.workspace
    branch = _branch(locked.plan, onto)
    ref = _HEADS + branch
    if branch == locked.sandbox.branch:
        raise RefusedError(
            f"{branch!r} is the sandbox's own branch",
            hint="name the branch that is to get the work: --onto BRANCH",
        )
    old = resolve_refs(ws.common_dir, [ref]).get(ref)
    found = checkouts_of(ws.common_dir, ref)
    if old is None and not found:
        raise NotFoundError(
            f"there is no branch {branch!r}",
            hint=f"name another one with --onto, or make it first: git branch {branch}",
        )
    if user_git(ws.common_dir).run("symbolic-ref", "--quiet", ref).code == 0:
        raise RefusedError(
            f"branch {branch!r} is a symbolic ref: moving it would move another branch",
            hint="name that other branch with --onto",
        )
    target = _only_checkout(locked, branch, old, found)
    _refuse_senseless(target, strategy)
    return target


def _branch(plan: Plan, onto: str | None) -> str:
    branch = (onto or plan.base_ref or "").removeprefix(_HEADS)
    if not branch:
        raise UsageError(
            f"plan {plan.name!r} was not created from a branch, so it is not clear where it goes",
            hint="name a branch: --onto BRANCH",
        )
    return branch


def _only_checkout(
    locked: LockedSandbox, branch: str, old: CommitId | None, found: list[Checkout]
) -> Target:
    if len(found) > 1:
        raise RefusedError(
            f"branch {branch!r} is checked out more than once",
            hint="switch all but one of those worktrees to another branch",
            details={"paths": [str(checkout.root) for checkout in found]},
        )
    checkout = found[0] if found else None
    if checkout is None:
        return Target(branch, old, None, in_place=False)
    in_place = same_directory(checkout.root, locked.sandbox.path)
    if not in_place:
        _refuse_other_plan(locked, branch, checkout)
        locked.workspace.refuse_foreign(checkout.root, checkout.git_dir)
        refuse_busy(checkout, locked.store.deadline)
    return Target(branch, old, checkout, in_place=in_place)


def _refuse_other_plan(locked: LockedSandbox, branch: str, checkout: Checkout) -> None:
    """What another plan's agent works in is not ours to change."""
    ws = locked.workspace
    with ws.database.read() as uow:
        holder = uow.plans.by_sandbox_path(ws.repository_id, str(checkout.root))
    if holder is not None and holder.state not in (PlanState.APPLIED, PlanState.CANCELLED):
        raise RefusedError(
            f"branch {branch!r} is checked out in the sandbox of plan {holder.name!r}",
            hint=f"finish plan {holder.name} first, or name another branch with --onto",
        )


def _refuse_senseless(target: Target, strategy: ApplyStrategy) -> None:
    if strategy is not ApplyStrategy.MERGE:
        return
    if target.in_place:
        raise RefusedError(
            f"branch {target.branch!r} is checked out in the sandbox itself: "
            "there is nothing to merge",
            hint="leave --strategy out, and what is not committed yet becomes one commit",
        )
    if target.old is None:
        raise RefusedError(
            f"branch {target.branch!r} has no commit yet: there is nothing to merge with",
            hint="use --strategy squash or ff",
        )
