"""The checkpoint that a parent plan gets before it gets a child."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.tools import Trigger
from backtrail.services.access import writing
from backtrail.services.creation import create_checkpoint
from backtrail.services.pruning import keep_within_limits
from backtrail.services.workspace import DEFAULT_WAIT

if TYPE_CHECKING:
    from backtrail.domain.plan import Plan
    from backtrail.services.workspace import Workspace


def record_spawn(workspace: Workspace, parent: Plan, child: str) -> None:
    """The checkpoint that the parent goes back to when the child shall never have been."""
    if Trigger.SUBPLAN_SPAWN not in workspace.settings.triggers.enabled:
        return
    request = CheckpointRequest(
        reason=f"before child plan {child}", checkpoint_type=CheckpointType.SUBPLAN_SPAWN
    )
    with writing(workspace, parent.plan_id, wait=DEFAULT_WAIT) as locked:
        create_checkpoint(locked, request)
        keep_within_limits(locked)
    workspace.failpoints.reach("plan.spawn_recorded")
