"""Automatic checkpoints: what they are taken at, and what is declared about single tools."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

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
