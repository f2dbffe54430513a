"""PolicyService: the rules of a plan, shown and changed: what is retained, what may be rolled back.

Each part of a policy is stored under its own name, and names that this version does not know stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from backtrail.domain.operation import OperationKind
from backtrail.domain.retention import LIMITS, RETENTION, PlanRetention
from backtrail.domain.settings import ROLLBACK, RULES, PlanRollbackPolicy
from backtrail.services.retention.effective import (
    limits_are_damaged,
    retention_of,
    rollback_policy_of,
)
from backtrail.services.session.journal import Entry, log_done

if TYPE_CHECKING:
    from backtrail.domain.ids import PlanId
    from backtrail.domain.plan import Plan
    from backtrail.services.session.context import Workspace
    from backtrail.storage.database import UnitOfWork


_NO_RULES: Mapping[str, bool] = {}


@dataclass(frozen=True, slots=True)
class PlanPolicy:
    """The rules of a plan, and how many complete checkpoints it has."""

    plan: Plan
    retention: PlanRetention
    rollback: PlanRollbackPolicy
    checkpoints: int
    changed: bool = False


class PolicyService:
    """Policies of the plans of one repository."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def show(self, plan: PlanId) -> PlanPolicy:
        with self._workspace.database.read() as uow:
            return self._policy(uow, uow.plans.get(plan))

    def asks_first(self, plan: Plan) -> bool:
        """Whether somebody must agree to each rollback of a plan."""
        return rollback_policy_of(self._workspace, plan).policy.require_confirmation

    def change(
        self,
        plan: PlanId,
        limits: Mapping[str, int | None],
        rules: Mapping[str, bool] = _NO_RULES,
        *,
        reset: bool = False,
    ) -> PlanPolicy:
        """Set these limits and rules; with `reset`, all others are the usual ones again."""
        ws = self._workspace
        with ws.database.write() as uow:
            row = uow.plans.lock(plan)
            parts = self._parts(row, limits, rules, reset=reset)
            ws.settings.retention.with_limits(parts.get(RETENTION, {}))
            # An empty part says no more than a missing one, unless what was there is damaged.
            missing: object = None if "corrupt" in row.policy else {}
            changed = any(parts[name] != row.policy.get(name, missing) for name in parts)
            if changed:
                uow.plans.set_policy(plan, {**row.policy, **parts})
                said = [f"{name}={value}" for name, value in {**limits, **rules}.items()]
                reason = ", ".join(["reset", *said] if reset else said)
                log_done(ws, uow, row, Entry(OperationKind.POLICY, reason=reason))
            found = self._policy(uow, uow.plans.get(plan))
        return replace(found, changed=changed)

    def _parts(
        self,
        plan: Plan,
        limits: Mapping[str, int | None],
        rules: Mapping[str, bool],
        *,
        reset: bool,
    ) -> dict[str, dict[str, Any]]:
        """The parts of the policy as they shall be; damaged ones begin anew if they are changed."""
        ws = self._workspace
        retention, rollback = retention_of(ws, plan), rollback_policy_of(ws, plan)
        parts: dict[str, dict[str, Any]] = {}
        anew = reset or retention.problem is not None
        if limits or reset:
            parts[RETENTION] = _stored(plan, RETENTION, LIMITS if anew else ()) | dict(limits)
        if rules or reset:
            anew = reset or rollback.problem is not None
            usual = ws.settings.rollback.rules() if anew else {}
            parts[ROLLBACK] = _stored(plan, ROLLBACK, RULES if anew else ()) | usual | dict(rules)
        return parts

    def _policy(self, uow: UnitOfWork, plan: Plan) -> PlanPolicy:
        ws = self._workspace
        limits_are_damaged(ws, plan)
        rollback = rollback_policy_of(ws, plan)
        if rollback.problem:
            ws.notices.append(
                f"the rules of plan {plan.name} about rollbacks are damaged ({rollback.problem}): "
                f"none is allowed until plan policy {plan.name} --reset sets the usual ones"
            )
        count = uow.pruning.count_complete(plan.plan_id)
        return PlanPolicy(plan, retention_of(ws, plan), rollback, count)


def _stored(plan: Plan, part: str, without: Iterable[str]) -> dict[str, Any]:
    """What is stored of a part, as far as it stays."""
    stored: object = plan.policy.get(part)
    if not isinstance(stored, Mapping):
        return {}
    values = cast("Mapping[str, Any]", stored)
    return {name: value for name, value in values.items() if name not in without}
