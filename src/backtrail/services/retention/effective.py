"""The rules that hold for a plan, also when what it stored about them is damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.domain.retention import stored_retention
from backtrail.domain.settings import stored_rollback

if TYPE_CHECKING:
    from backtrail.domain.plan import Plan
    from backtrail.domain.retention import CheckpointRetentionPolicy, PlanRetention
    from backtrail.domain.settings import PlanRollbackPolicy
    from backtrail.services.session.context import Workspace


def retention_of(workspace: Workspace, plan: Plan) -> PlanRetention:
    """The plan's own limits; what it does not limit itself is as `plan.toml` says."""
    return stored_retention(plan.policy, workspace.settings.retention)


def limits_of(workspace: Workspace, plan: Plan) -> CheckpointRetentionPolicy:
    """The limits in force, also if the plan's own are damaged."""
    return retention_of(workspace, plan).policy


def limits_are_damaged(workspace: Workspace, plan: Plan) -> bool:
    """Whether the usual limits only stand in for what cannot be read; if so, it is said."""
    problem = retention_of(workspace, plan).problem
    if problem is None:
        return False
    said = (
        f"the limits of plan {plan.name} are damaged ({problem}): nothing is pruned by itself "
        f"until they are set again; plan policy {plan.name} --reset sets the usual ones"
    )
    if said not in workspace.notices:
        workspace.notices.append(said)
    return True


def rollback_policy_of(workspace: Workspace, plan: Plan) -> PlanRollbackPolicy:
    """The rules kept with the plan; one that keeps none follows `plan.toml`."""
    return stored_rollback(plan.policy, workspace.settings.rollback)


def check_policy_allows_rollback(workspace: Workspace, plan: Plan) -> None:
    """Refuse what the plan's policy forbids, or may have forbidden before it was damaged."""
    found = rollback_policy_of(workspace, plan)
    if found.problem is not None:
        raise RefusedError(
            f"the rules of plan {plan.name!r} about rollbacks are damaged ({found.problem}), "
            "and may forbid them",
            hint=f"plan policy {plan.name} --reset sets the usual ones",
        )
    if not found.policy.allowed:
        raise RefusedError(
            f"the policy of plan {plan.name!r} does not allow rollbacks",
            hint=f"plan policy {plan.name} --allow-rollback allows them",
        )
