"""What is known of a durable step: its name, the digest of its arguments, its marks and results.

Marks are only ever appended. Each has an epoch and a position from the plan's counter, so that
the lineage alone decides which of them hold; `domain/ledger.py` draws the conclusions.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
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


@dataclass(frozen=True, slots=True, order=True)
class StepName:
    """What a step is called: two steps with the same name are the same step."""

    key: str
    ordinal: int = COMMAND_LINE


def check_key(key: str) -> str:
    """The key itself, if it can name a step."""
    if not key.strip() or len(key) > MAX_KEY_LENGTH:
        raise UsageError(
            f"{key[:MAX_KEY_LENGTH]!r} cannot be the key of a step",
            hint=f"a key has 1 to {MAX_KEY_LENGTH} characters, and not only blanks",
        )
    return key


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
        return {**asdict(self), "variables": list(self.variables)}

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


class UnrecordableError(ValueError):
    """A value that would not come back as it was."""


def to_json(value: object) -> str:
    """The value as JSON, always written the same way; raises what says why it cannot be."""
    try:
        _refuse_other_keys(value)
        return json.dumps(value, allow_nan=False, sort_keys=True, separators=(",", ":"))
    except RecursionError as error:
        raise UnrecordableError("it is nested too deeply, or holds itself") from error
    except (TypeError, ValueError) as error:
        raise UnrecordableError(str(error)) from error


def from_json(text: str) -> Any:  # noqa: ANN401 - whatever a function returned
    return json.loads(text)


def _refuse_other_keys(value: object) -> None:
    """JSON would write the number 1 and the text "1" as the same key."""
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value)
        for key, inner in items.items():
            if not isinstance(key, str):
                raise UnrecordableError(f"the key {key!r} of a mapping is not a text")
            _refuse_other_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("list[object]", value):
            _refuse_other_keys(inner)


# Every part is written with its length before it, so that no two different lists of parts can
# make the same bytes, whatever characters are in them. Arguments hold secrets, and a short one
# could be guessed from a digest that anybody can compute; so a digest has a key.
_FORMAT = "backtrail step 1"


@dataclass(frozen=True, slots=True)
class Digests:
    """By what the same arguments are known: now, and in rows of versions that used no key."""

    now: str
    earlier: str

    def __contains__(self, digest: str) -> bool:
        return digest in (self.now, self.earlier)


def command_digests(
    key: bytes, command: Sequence[str], directory: str, variables: Mapping[str, str | None]
) -> Digests:
    """Of a command: its words, where it runs, and the variables that matter; None is not set."""
    pairs = (
        _joined([name] if value is None else [name, value])
        for name, value in sorted(variables.items())
    )
    return _digests(key, "command", _joined(command), _joined([directory]), _packed(pairs))


def call_digests(key: bytes, arguments: str) -> Digests:
    """Of a function's arguments, given as JSON that is always written the same way."""
    return _digests(key, "call", _joined([arguments]))


def _digests(key: bytes, kind: str, *parts: bytes) -> Digests:
    written = _packed([_joined([_FORMAT, kind]), *parts])
    return Digests(
        hmac.new(key, written, hashlib.sha256).hexdigest(), hashlib.sha256(written).hexdigest()
    )


def _joined(texts: Iterable[str]) -> bytes:
    # Bytes that are not UTF-8 arrive as lone surrogates, and keep apart.
    return _packed(text.encode("utf-8", "surrogatepass") for text in texts)


def _packed(parts: Iterable[bytes]) -> bytes:
    return b"".join(b"%d:%b" % (len(part), part) for part in parts)
