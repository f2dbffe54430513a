"""Everything that `plan.toml` can say about a repository, as values; `config` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from backtrail.domain.capture import CaptureRules
from backtrail.domain.retention_policy import CheckpointRetentionPolicy
from backtrail.domain.rollback_policy import RollbackPolicy
from backtrail.domain.tools import USUAL_TRIGGERS, ToolDeclaration, Trigger

if TYPE_CHECKING:
    from pathlib import Path

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
