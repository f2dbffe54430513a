"""How many checkpoints a plan keeps and for how long, and how a plan remembers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any, cast

from backtrail.domain.errors import UsageError
from backtrail.domain.operation import UNDO_DEPTH

RETENTION = "retention"
LIMITS = ("max_checkpoints", "max_age_seconds", "max_bytes", "keep_recent", "undo_depth")
"""Under these names a plan's own limits are stored and shown; what is not stored is the default."""
_LONGEST = timedelta(days=36500)
_MOST = 10**15


@dataclass(frozen=True, slots=True)
class CheckpointRetentionPolicy:
    """The limits of one plan; what is protected may exceed them."""

    max_checkpoints: int = 50
    max_age: timedelta | None = None
    max_bytes: int | None = None
    keep_recent: int = 10
    undo_depth: int = UNDO_DEPTH

    def __post_init__(self) -> None:
        _check_count("max_checkpoints", self.max_checkpoints, least=1)
        _check_count("keep_recent", self.keep_recent, least=0)
        # A rollback that fails half-way must be undoable.
        _check_count("undo_depth", self.undo_depth, least=1)
        if self.max_bytes is not None:
            _check_count("max_bytes", self.max_bytes, least=1)
        if self.max_age is not None and not timedelta(0) < self.max_age <= _LONGEST:
            raise UsageError(
                "max_age must be more than nothing and at most 36500 days",
                hint="write it as 12h, 30d or 2w; none for no limit",
            )

    @property
    def counts_alone(self) -> bool:
        """Whether the number of checkpoints tells if any must go."""
        return self.max_age is None and self.max_bytes is None

    def with_limits(self, limits: Mapping[str, Any]) -> CheckpointRetentionPolicy:
        """The same but for these limits. Unknown names are not ours to judge."""
        values = {name: limits[name] for name in LIMITS if name in limits}
        if "max_age_seconds" in values:
            values["max_age"] = _age(values.pop("max_age_seconds"))
        return replace(self, **values)

    def limits(self) -> dict[str, int | None]:
        """All limits in a form that JSON can hold."""
        values = asdict(self)
        age = cast("timedelta | None", values.pop("max_age"))
        values["max_age_seconds"] = None if age is None else round(age.total_seconds())
        return {name: values[name] for name in LIMITS}


@dataclass(frozen=True, slots=True)
class PlanRetention:
    """A plan's policy as it was stored, and what is wrong with what was stored."""

    policy: CheckpointRetentionPolicy
    own: tuple[str, ...] = ()
    """The limits that the plan itself sets."""
    problem: str | None = None
    """Why the defaults stand in for the plan's own limits."""


def stored_retention(
    plan_policy: Mapping[str, Any], usual: CheckpointRetentionPolicy
) -> PlanRetention:
    """The retention part of a plan's policy; damaged or impossible limits count as not set."""
    stored: object = plan_policy.get(RETENTION, None if "corrupt" in plan_policy else {})
    if not isinstance(stored, Mapping):
        return PlanRetention(usual, problem="they cannot be read")
    limits = cast("Mapping[str, Any]", stored)
    try:
        policy = usual.with_limits(limits)
    except UsageError as error:
        return PlanRetention(usual, problem=error.message)
    return PlanRetention(policy, tuple(name for name in LIMITS if name in limits))


def _age(seconds: object) -> timedelta | None:
    if seconds is None:
        return None
    whole = _check_count("max_age", seconds, least=1)
    # A number that no span of time can hold must be told as too long, too.
    return timedelta(seconds=min(whole, _LONGEST.total_seconds() + 1))


def _check_count(name: str, value: object, *, least: int) -> int:
    # True would pass for 1, and rows and callers may hold anything.
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST:
        raise UsageError(
            f"{name} cannot be {value!r}",
            hint=f"{name} is a whole number from {least} to {_MOST}",
        )
    return value
