"""A sandbox that is not where it was: what happened, and what to type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.domain.plan import PlanState
from backtrail.git.user.discovery import worktree_at
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
    if names_back(plan.sandbox, common_dir):
        return "git worktree repair in the repository mends this"
    if worktree_at(path) is not None:
        return f"git worktree repair {str(path)!r} mends this"
    return (
        f"plan restore {name} brings back the latest checkpoint; "
        f"if you moved it, plan restore {name} --path PLACE takes it up there"
    )
