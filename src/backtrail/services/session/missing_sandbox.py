"""A sandbox that is not where it was: what happened, and what to type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.domain.plan import PlanState
from backtrail.git.user.discovery import is_git_dir, is_odd, odd_file, worktree_at
from backtrail.git.user.identity import registered_git_dir
from backtrail.git.user.worktrees import lost_its_git_dir, moved_to, names_back

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.plan import Plan


def refuse_removed(plan: Plan) -> None:
    if plan.state is PlanState.REMOVED:
        raise RefusedError(
            f"plan {plan.name!r} has been removed",
            hint=f"plan restore {plan.plan_id} brings it back",
        )


def what_to_type(plan: Plan, common_dir: Path) -> str | None:
    """How a sandbox that was moved, deleted or pruned comes back; None if only git can tell."""
    name, path = plan.name, plan.sandbox.path
    place = moved_to(common_dir, plan.sandbox)
    if place is not None and place != path:
        return f"it was moved: plan restore {name} --path {str(place)!r} takes it up there"
    if lost_its_git_dir(path, common_dir):
        return (
            f"its git directory was pruned: plan restore {name} saves the files that are there, "
            "then brings back the latest checkpoint"
        )
    git_dir = registered_git_dir(plan.sandbox, common_dir)
    damaged = git_dir and (odd_file(git_dir) or (None if is_git_dir(git_dir) else git_dir))
    if damaged:
        return (
            f"{str(damaged)!r} is damaged: move {str(git_dir)!r} away, and plan restore {name} "
            "saves the files that are there, then brings back the latest checkpoint"
        )
    dot_git = path / ".git"
    if names_back(plan.sandbox, common_dir):
        repair = "git worktree repair in the repository mends this"
        return f"move {str(dot_git)!r} away, and {repair}" if is_odd(dot_git) else repair
    if worktree_at(path) is not None:
        return f"git worktree repair {str(path)!r} mends this"
    return (
        f"plan restore {name} brings back the latest checkpoint; "
        f"if you moved it, plan restore {name} --path PLACE takes it up there"
    )
