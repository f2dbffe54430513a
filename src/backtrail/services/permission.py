"""Whether a plan's policy lets it be rolled back, also when what it stored is damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.domain.rollback_policy import stored_rollback

if TYPE_CHECKING:
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback_policy import PlanRollbackPolicy
    from backtrail.services.workspace import Workspace


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
