"""The limits that hold for a plan, also when what it stored about them is damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.retention_policy import CheckpointRetentionPolicy, stored_retention

if TYPE_CHECKING:
    from backtrail.domain.plan import Plan
    from backtrail.services.workspace import Workspace


def limits_of(plan: Plan) -> CheckpointRetentionPolicy:
    """The plan's own limits, or the usual ones."""
    return stored_retention(plan.policy).policy


def limits_are_damaged(workspace: Workspace, plan: Plan) -> bool:
    """Whether the usual limits only stand in for what cannot be read; if so, it is said."""
    problem = stored_retention(plan.policy).problem
    if problem is None:
        return False
    said = (
        f"the limits of plan {plan.name} are damaged ({problem}): nothing is pruned by itself "
        f"until they are set again; plan policy {plan.name} --reset sets the usual ones"
    )
    if said not in workspace.notices:
        workspace.notices.append(said)
    return True
