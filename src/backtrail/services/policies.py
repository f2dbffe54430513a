"""PolicyService: the rules of a plan, shown and changed; so far how much of it is retained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from backtrail.domain.operation import OperationKind
from backtrail.domain.retention_policy import (
    LIMITS,
    RETENTION,
    PlanRetention,
)
from backtrail.services.journal import Entry, log_done
from backtrail.services.limits import limits_are_damaged, retention_of

if TYPE_CHECKING:
    from backtrail.domain.ids import PlanId
    from backtrail.domain.plan import Plan
    from backtrail.services.workspace import Workspace
    from backtrail.storage.database import UnitOfWork


@dataclass(frozen=True, slots=True)
class PlanPolicy:
    """The rules of a plan, and how many complete checkpoints it has."""

    plan: Plan
    retention: PlanRetention
    checkpoints: int
    changed: bool = False


class PolicyService:
    """Policies of the plans of one repository."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def show(self, plan: PlanId) -> PlanPolicy:
        with self._workspace.database.read() as uow:
            return self._policy(uow, uow.plans.get(plan))

    def change(
        self, plan: PlanId, limits: Mapping[str, int | None], *, reset: bool = False
    ) -> PlanPolicy:
        """Set these limits; with `reset`, all others are the usual ones again."""
        ws = self._workspace
        with ws.database.write() as uow:
            row = uow.plans.lock(plan)
            now = self._stored_limits(row, reset=reset) | dict(limits)
            ws.settings.retention.with_limits(now)
            damaged = retention_of(ws, row).problem is not None
            changed = damaged or now != row.policy.get(RETENTION, {})
            if changed:
                uow.plans.set_policy(plan, {**row.policy, RETENTION: now})
                said = [f"{name}={value}" for name, value in limits.items()]
                reason = ", ".join(["reset", *said] if reset else said)
                log_done(ws, uow, row, Entry(OperationKind.POLICY, reason=reason))
            found = self._policy(uow, uow.plans.get(plan))
        return PlanPolicy(found.plan, found.retention, found.checkpoints, changed)

    def _policy(self, uow: UnitOfWork, plan: Plan) -> PlanPolicy:
        limits_are_damaged(self._workspace, plan)
        count = uow.pruning.count_complete(plan.plan_id)
        return PlanPolicy(plan, retention_of(self._workspace, plan), count)

    def _stored_limits(self, plan: Plan, *, reset: bool) -> dict[str, Any]:
        """What is stored, as far as it stays: names that this version does not know always do."""
        stored: object = plan.policy.get(RETENTION)
        if not isinstance(stored, Mapping):
            return {}
        limits = dict(cast("Mapping[str, Any]", stored))
        if reset or retention_of(self._workspace, plan).problem:
            return {name: value for name, value in limits.items() if name not in LIMITS}
        return limits
