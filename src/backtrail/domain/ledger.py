"""The steps of a plan as their marks and a lineage have them: which hold, and which must run.

A step has its place where it was first started. It is live while that start is in the lineage and
nothing dropped it. Its result is its newest live completion; if it was started again after that,
or has none, it is pending. Nothing is ever marked by hand: a rollback changes the lineage alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from backtrail.domain.step import Mark, MarkKind

if TYPE_CHECKING:
    from backtrail.domain.ids import RunId, StepId
    from backtrail.domain.step import Digests, Result, Step, StepName
    from backtrail.domain.timeline import Lineage


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
    def completed_at(self) -> int:
        return self.completion.position if self.completion else 0

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
        return max(self.succeeded, key=lambda e: e.completed_at, default=None)

    def named(self, name: StepName) -> StepEntry | None:
        return next((entry for entry in self.valid if entry.step.name == name), None)

    def under_way(self, active: Collection[RunId]) -> StepEntry | None:
        """The step that a run is at, if there is one: no other may start before it has ended."""
        return next((e for e in self.pending if e.attempt.run_id in active), None)


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


class StepVerdict(StrEnum):
    """What is to be done about a step that is asked for."""

    NEW = "new"
    REUSE = "reuse"
    FAILED_BEFORE = "failed_before"
    INTERRUPTED = "interrupted"
    CHANGED = "changed"


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
    surplus = sum(m.result.output_bytes for m in kept if m.result) - limit
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
