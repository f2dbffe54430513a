"""Everything that `plan.toml` can say about a repository, as values; `config` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from backtrail.domain.capture import CaptureRules
from backtrail.domain.retention import CheckpointRetentionPolicy
from backtrail.domain.tools import USUAL_TRIGGERS, ToolDeclaration, Trigger

if TYPE_CHECKING:
    from pathlib import Path


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


DEFAULT_MAX_OUTPUT_BYTES = 64 * 1024**2


class ApplyStrategy(StrEnum):
    """How the work of a plan is brought onto a branch."""

    SQUASH = "squash"
    MERGE = "merge"
    FF = "ff"


@dataclass(frozen=True, slots=True)
class StepSettings:
    """The `[steps]` section."""

    max_output_bytes: int = DEFAULT_MAX_OUTPUT_BYTES
    """How much output of steps a plan keeps, compressed."""


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """The `[sandbox]` section."""

    root: Path | None = None
    """Where sandboxes are made; None for the directory beside the main checkout."""
    branch_prefix: str = "plan/"
    copy: tuple[str, ...] = ()
    """Patterns of ignored files that a new sandbox gets from the main checkout."""


@dataclass(frozen=True, slots=True)
class ApplySettings:
    """The `[apply]` section."""

    strategy: ApplyStrategy = ApplyStrategy.SQUASH


@dataclass(frozen=True, slots=True)
class TriggerSettings:
    """The `[triggers]` section."""

    enabled: tuple[Trigger, ...] = USUAL_TRIGGERS


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole of `plan.toml`, section by section."""

    retention: CheckpointRetentionPolicy = field(default_factory=CheckpointRetentionPolicy)
    capture: CaptureRules = field(default_factory=CaptureRules)
    rollback: RollbackPolicy = field(default_factory=RollbackPolicy)
    triggers: TriggerSettings = field(default_factory=TriggerSettings)
    tools: Mapping[str, ToolDeclaration] = field(default_factory=dict[str, ToolDeclaration])
    steps: StepSettings = field(default_factory=StepSettings)
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    apply: ApplySettings = field(default_factory=ApplySettings)
