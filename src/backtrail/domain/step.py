"""Durable steps: their marks and digests, which of them hold, and which must run.

Every part is written with its length before it, so that no two different lists of parts can
make the same bytes, whatever characters are in them. Arguments hold secrets, and a short one could
be guessed from a digest that anybody can compute; so a digest has a key.

Marks are only ever appended. Each has an epoch and a position from the plan's counter, so that
the lineage alone decides which of them hold; `domain/steps.py` draws the conclusions.

A step has its place where it was first started. It is live while that start is in the lineage and
nothing dropped it. Its result is its newest live completion; if it was started again after that,
or has none, it is pending. Nothing is ever marked by hand: a rollback changes the lineage alone.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from backtrail.domain.errors import UsageError
from backtrail.domain.redaction import redacted

if TYPE_CHECKING:
    from datetime import datetime

    from backtrail.domain.ids import DecisionId, MarkId, PlanId, RunId, StepId
    from backtrail.domain.timeline import Lineage


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


class StepStatus(StrEnum):
    RUNNING = "running"
    PENDING = "pending"
    SUCCEEDED = "succeeded"
    REUSED = "reused"
    FAILED = "failed"
    DROPPED = "dropped"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class StepEntry:
    """A step with what its marks say; of one that is not live, what they said last."""

    step: Step
    place: int
    """Where it first started."""
    live: bool
    dropped: bool
    attempt: Mark
    """The newest start."""
    completion: Mark | None
    """The newest completion."""
    reuses: int

    @property
    def valid(self) -> bool:
        """Whether it is on the timeline: at most one of each name is."""
        return self.live and not self.dropped

    @property
    def pending(self) -> bool:
        return self.completion is None or self.completion.position < self.attempt.position

    @property
    def result(self) -> Result | None:
        """How it ended; None while that is not known."""
        return None if self.pending or self.completion is None else self.completion.result

    @property
    def succeeded(self) -> bool:
        return self.result is not None and self.result.succeeded

    def status(self, active: Collection[RunId]) -> StepStatus:
        """In one word, given the runs that are under way."""
        if not self.live:
            return StepStatus.SUPERSEDED
        if self.dropped:
            return StepStatus.DROPPED
        if self.pending:
            return StepStatus.RUNNING if self.attempt.run_id in active else StepStatus.PENDING
        if not self.succeeded:
            return StepStatus.FAILED
        return StepStatus.REUSED if self.reuses else StepStatus.SUCCEEDED


@dataclass(frozen=True, slots=True)
class Ledger:
    """All steps of a plan, in the order of their places."""

    entries: tuple[StepEntry, ...]

    @property
    def valid(self) -> tuple[StepEntry, ...]:
        return tuple(entry for entry in self.entries if entry.valid)

    @property
    def pending(self) -> tuple[StepEntry, ...]:
        return tuple(entry for entry in self.valid if entry.pending)

    @property
    def succeeded(self) -> tuple[StepEntry, ...]:
        return tuple(entry for entry in self.valid if entry.succeeded)

    @property
    def last_succeeded(self) -> StepEntry | None:
        """The one that came to its end last, wherever its place is."""
        return max(self.succeeded, key=_completed_at, default=None)

    def named(self, name: StepName) -> StepEntry | None:
        return next((entry for entry in self.valid if entry.step.name == name), None)

    def under_way(self, active: Collection[RunId]) -> StepEntry | None:
        """The step that a run is at, if there is one: no other may start before it has ended."""
        return next((e for e in self.pending if e.attempt.run_id in active), None)


class StepVerdict(StrEnum):
    """What is to be done about a step that is asked for."""

    NEW = "new"
    REUSE = "reuse"
    FAILED_BEFORE = "failed_before"
    INTERRUPTED = "interrupted"
    CHANGED = "changed"


def ledger_of(steps: Iterable[Step], marks: Iterable[Mark], lineage: Lineage) -> Ledger:
    """The steps of a plan as the lineage has them."""
    known = {step.step_id: step for step in steps}
    in_order = sorted(marks, key=attrgetter("step_id", "position"))
    gathered = [
        _gathered(known[step_id], list(group), lineage)
        for step_id, group in groupby(in_order, key=attrgetter("step_id"))
    ]
    spans = _dropped_spans(gathered)
    entries = (_entry(each, spans) for each in gathered)
    return Ledger(tuple(sorted(entries, key=attrgetter("place"))))


def step_verdict(entry: StepEntry | None, digests: Digests, *, reuse_failed: bool) -> StepVerdict:
    """What to do about a step, given the entry that holds its name, if there is one."""
    if entry is None:
        return StepVerdict.NEW
    if entry.step.digest not in digests:
        return StepVerdict.CHANGED
    if entry.pending:
        return StepVerdict.INTERRUPTED
    return StepVerdict.REUSE if entry.succeeded or reuse_failed else StepVerdict.FAILED_BEFORE


@dataclass(frozen=True, slots=True)
class StepsLeaving:
    """What another lineage would do to the steps that hold now."""

    superseded: tuple[StepEntry, ...] = ()
    pending_again: tuple[StepEntry, ...] = ()


def steps_leaving(now: Ledger, then: Ledger) -> StepsLeaving:
    """Steps that would hold no longer, and steps whose completion alone would not."""
    held = {entry.step.step_id for entry in then.valid}
    pending = {entry.step.step_id for entry in then.pending}
    return StepsLeaving(
        superseded=tuple(e for e in now.valid if e.step.step_id not in held),
        pending_again=tuple(e for e in now.valid if not e.pending and e.step.step_id in pending),
    )


@dataclass(frozen=True, slots=True)
class _Gathered:
    """A step with the marks that count, oldest first: the live ones, or all if it is not live."""

    step: Step
    live: bool
    marks: Sequence[Mark]

    def of(self, kind: MarkKind) -> list[Mark]:
        return [mark for mark in self.marks if mark.kind is kind]

    @property
    def place(self) -> int:
        return self.of(MarkKind.STARTED)[0].position


def _gathered(step: Step, marks: Sequence[Mark], lineage: Lineage) -> _Gathered:
    holding = [mark for mark in marks if lineage.contains(mark.epoch, mark.position)]
    live = any(mark.kind is MarkKind.STARTED for mark in holding)
    return _Gathered(step, live, holding if live else marks)


def _dropped_spans(gathered: Iterable[_Gathered]) -> list[tuple[int, int]]:
    """From the place of each dropped step to the drop: what began in there went with it."""
    return [
        (each.place, drop.position)
        for each in gathered
        if each.live
        for drop in each.of(MarkKind.DROPPED)
    ]


def _entry(each: _Gathered, spans: Iterable[tuple[int, int]]) -> StepEntry:
    completions = each.of(MarkKind.COMPLETED)
    return StepEntry(
        step=each.step,
        place=each.place,
        live=each.live,
        dropped=each.live and any(start <= each.place < end for start, end in spans),
        attempt=each.of(MarkKind.STARTED)[-1],
        completion=completions[-1] if completions else None,
        reuses=len(each.of(MarkKind.REUSED)),
    )


def _completed_at(entry: StepEntry) -> int:
    return entry.completion.position if entry.completion else 0


def kept_bytes(marks: Iterable[Mark]) -> int:
    """What the output of all these completions takes on disk."""
    return sum(m.result.output_bytes for m in marks if m.keeps_output and m.result)


def outputs_to_drop(
    marks: Iterable[Mark],
    *,
    limit: int,
    lineage: Lineage,
    covered_until: int,
    in_flight: Collection[StepId],
) -> list[Mark]:
    """Completions whose output is to go, so that no more than `limit` bytes are kept.

    Only what a complete checkpoint covers may go: of the timeline that is what completed before
    the newest one, at `covered_until`; what a rollback took off the timeline is covered by the
    safety checkpoint of that rollback.
    """
    kept = sorted((m for m in marks if m.keeps_output), key=lambda mark: mark.position)
    surplus = kept_bytes(kept) - limit
    going: list[Mark] = []
    for mark in kept:
        if surplus <= 0:
            break
        uncovered = mark.position > covered_until and lineage.contains(mark.epoch, mark.position)
        if uncovered or mark.step_id in in_flight or mark.result is None:
            continue
        going.append(mark)
        surplus -= mark.result.output_bytes
    return going
