"""Durable steps: units of work inside runs, and the marks that are recorded of them.

Marks are only ever appended. Each has an epoch and a position from the plan's counter, so that
the lineage alone decides which of them hold; `domain/steps.py` draws the conclusions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from backtrail.domain.errors import UsageError
from backtrail.domain.redaction import redacted

if TYPE_CHECKING:
    from datetime import datetime

    from backtrail.domain.ids import DecisionId, MarkId, PlanId, RunId, StepId

MAX_KEY_LENGTH = 200
COMMAND_LINE = 0
"""The ordinal of every step of the command line; those of Python count from 1 in each run."""


class MarkKind(StrEnum):
    """`dropped` takes a step and all that began after it off the timeline."""

    STARTED = "started"
    COMPLETED = "completed"
    DROPPED = "dropped"
    REUSED = "reused"


class Outcome(StrEnum):
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class OutputState(StrEnum):
    """`none`: there was nothing to keep; `lost`: it could not be written down."""

    NONE = "none"
    KEPT = "kept"
    PRUNED = "pruned"
    LOST = "lost"


@dataclass(frozen=True, slots=True, order=True)
class StepName:
    """What a step is called: two steps with the same name are the same step."""

    key: str
    ordinal: int = COMMAND_LINE


@dataclass(frozen=True, slots=True)
class Step:
    """One step as it was first started; with other arguments it would be another one."""

    step_id: StepId
    plan_id: PlanId
    name: StepName
    digest: str
    command: tuple[str, ...]
    """What it runs, for people: the words of a command, or the name of a function."""
    directory: str
    """Where it runs, below the sandbox; empty for the sandbox itself."""
    decision_id: DecisionId | None = None
    """The decision that was current when it first started; a later attempt's is its run's."""


@dataclass(frozen=True, slots=True)
class StepOptions:
    """What the command line says about a step; written down, so that a crashed run can go on."""

    key: str
    reconcile: str | None = None
    """A line for the shell that finds out how a step ended whose end is not known."""
    reuse_failed: bool = False
    variables: tuple[str, ...] = ()
    """Names of variables whose values are a part of the arguments."""

    def redacted(self) -> StepOptions:
        """The same without secrets in the line for the shell."""
        reconcile = None if self.reconcile is None else redacted(self.reconcile)
        return replace(self, reconcile=reconcile)

    def as_json(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "reconcile": self.reconcile,
            "reuse_failed": self.reuse_failed,
            "variables": list(self.variables),
        }

    @classmethod
    def from_json(cls, stored: object) -> StepOptions | None:
        """What was written down; None if that is no step."""
        if not isinstance(stored, Mapping):
            return None
        values = cast("Mapping[str, Any]", stored)
        reconcile: object = values.get("reconcile")
        variables = cast("list[object]", values.get("variables") or [])
        return cls(
            key=str(values.get("key")),
            reconcile=reconcile if isinstance(reconcile, str) else None,
            reuse_failed=values.get("reuse_failed") is True,
            variables=tuple(map(str, variables)),
        )


@dataclass(frozen=True, slots=True)
class Result:
    """How an attempt at a step ended."""

    outcome: Outcome
    exit_code: int | None = None
    """None for a function, whose result or exception is in `value`."""
    value: Mapping[str, Any] = field(default_factory=dict[str, Any])
    output: OutputState = OutputState.NONE
    output_bytes: int = 0
    """What its output takes on disk, compressed."""

    @property
    def succeeded(self) -> bool:
        return self.outcome is Outcome.SUCCEEDED


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened to a step, and where on the plan's timeline."""

    mark_id: MarkId
    step_id: StepId
    kind: MarkKind
    epoch: int
    position: int
    at: datetime
    run_id: RunId | None = None
    """The run that made it; a reused step needs none."""
    attempt_id: MarkId | None = None
    """For a completion, the start that it ends; its output is kept under that id."""
    result: Result | None = None

    @property
    def keeps_output(self) -> bool:
        return self.result is not None and self.result.output is OutputState.KEPT


def check_key(key: str) -> str:
    """The key itself, if it can name a step."""
    if not key.strip() or len(key) > MAX_KEY_LENGTH:
        raise UsageError(
            f"{key[:MAX_KEY_LENGTH]!r} cannot be the key of a step",
            hint=f"a key has 1 to {MAX_KEY_LENGTH} characters, and not only blanks",
        )
    return key
