"""Whether a plan may be rolled back at all, and whether somebody must agree to it each time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

ROLLBACK = "rollback"
"""Under this name a plan's own rules about rollbacks are stored and shown."""
RULES = ("allowed", "require_confirmation")


@dataclass(frozen=True, slots=True)
class RollbackPolicy:
    """The `[rollback]` section of `plan.toml`."""

    allowed: bool = True
    require_confirmation: bool = True
    """False lets a script leave `--yes` out, and asks no person either."""

    def rules(self) -> dict[str, bool]:
        """In a form that JSON can hold."""
        return {"allowed": self.allowed, "require_confirmation": self.require_confirmation}


@dataclass(frozen=True, slots=True)
class PlanRollbackPolicy:
    """A plan's rules as they were stored, and what is wrong with what was stored."""

    policy: RollbackPolicy
    own: tuple[str, ...] = ()
    """The rules in which the plan differs from what `plan.toml` says now."""
    problem: str | None = None


def stored_rollback(plan_policy: Mapping[str, Any], usual: RollbackPolicy) -> PlanRollbackPolicy:
    """The rollback part of a plan's policy; what cannot be read may have forbidden everything."""
    stored: object = plan_policy.get(ROLLBACK, None if "corrupt" in plan_policy else {})
    if not isinstance(stored, Mapping):
        return PlanRollbackPolicy(usual, problem="they cannot be read")
    rules = {k: v for k, v in cast("Mapping[str, Any]", stored).items() if k in RULES}
    for name, value in rules.items():
        if not isinstance(value, bool):
            return PlanRollbackPolicy(usual, problem=f"{name} cannot be {value!r}")
    own = tuple(name for name, value in usual.rules().items() if rules.get(name, value) != value)
    return PlanRollbackPolicy(replace(usual, **rules), own)
