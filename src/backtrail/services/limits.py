"""The limits that hold for a plan, also when what it stored about them is damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.retention_policy import stored_retention

if TYPE_CHECKING:
    from backtrail.domain.plan import Plan
    from backtrail.domain.retention_policy import CheckpointRetentionPolicy, PlanRetention
    from backtrail.services.workspace import Workspace


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
