"""Automatic checkpoints: what they are taken at, and what is declared about single tools."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from backtrail.domain.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CheckpointId, OperationId
    from backtrail.domain.rollback import FileChange

TOOL_NAME = re.compile(r"[A-Za-z0-9_][\w.:/-]{0,63}", re.ASCII)


class Trigger(StrEnum):
    """What an automatic checkpoint is taken at."""

    BEFORE_TOOL_EXECUTE = "before_tool_execute"
    AFTER_TOOL_EXECUTE = "after_tool_execute"
    ON_ERROR = "on_error"
    SUBPLAN_SPAWN = "subplan_spawn"
    BEFORE_DECISION = "before_decision"


USUAL_TRIGGERS = (
    Trigger.BEFORE_TOOL_EXECUTE,
    Trigger.ON_ERROR,
    Trigger.SUBPLAN_SPAWN,
    Trigger.BEFORE_DECISION,
)
"""All but the one after a tool: what a tool leaves is what the next one finds."""


class ToolCheckpoint(StrEnum):
    """When a tool's calls are recorded."""

    BEFORE = "before"
    AFTER = "after"
    BOTH = "both"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """A `[tools.<name>]` section of `plan.toml`."""

    writes: bool = True
    checkpoint: ToolCheckpoint | None = None
    """None: as the triggers say, and no checkpoint around a tool that does not write."""


@dataclass(frozen=True, slots=True)
class ToolMarks:
    """Which checkpoints the calls of one tool get."""

    before: bool
    after: bool
    on_error: bool


def marks_of(declared: ToolDeclaration | None, enabled: Collection[Trigger]) -> ToolMarks:
    """What is declared beats the triggers; without any trigger nothing is automatic at all."""
    if not enabled:
        return ToolMarks(before=False, after=False, on_error=False)
    on_error = Trigger.ON_ERROR in enabled
    wanted = declared.checkpoint if declared else None
    if wanted is not None:
        return ToolMarks(
            before=wanted in (ToolCheckpoint.BEFORE, ToolCheckpoint.BOTH),
            after=wanted in (ToolCheckpoint.AFTER, ToolCheckpoint.BOTH),
            on_error=on_error,
        )
    if declared and not declared.writes:
        return ToolMarks(before=False, after=False, on_error=False)
    return ToolMarks(
        before=Trigger.BEFORE_TOOL_EXECUTE in enabled,
        after=Trigger.AFTER_TOOL_EXECUTE in enabled,
        on_error=on_error,
    )


def check_tool_name(name: str) -> str:
    """The name itself, if a tool can have it."""
    if not TOOL_NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a tool",
            hint="letters, digits, '_', '.', ':', '/' and '-', at most 64",
        )
    return name


@dataclass(slots=True)
class ToolCall:
    """One call of a tool: what is known of it so far, and all of it once it is over."""

    name: str
    declared: ToolDeclaration | None
    operation: OperationId
    checkpoint: Checkpoint | None = None
    """The one before it."""
    post_checkpoint: Checkpoint | None = None
    """The one after it, whether it failed or not."""
    reused: list[CheckpointId] = field(default_factory=list["CheckpointId"])
    """Those of the two that were there already and say the same."""
    exit_code: int = 0
    unexpected_changes: tuple[FileChange, ...] = ()
    """What a tool that only reads has changed all the same."""

    @property
    def failed(self) -> bool:
        return self.exit_code != 0
