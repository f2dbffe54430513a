"""Steps as a list of events that is copied and replayed: the plainest model of what holds.

A rollback to a checkpoint goes on with a copy of the events up to it, an undo with a copy of those
before the rollback. Nothing here knows of epochs, positions or marks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from backtrail.domain.ids import MarkId, RunId, StepId
from backtrail.domain.ledger import Ledger, StepVerdict, ledger_of, step_verdict
from backtrail.domain.step import (
    Digests,
    Mark,
    MarkKind,
    Outcome,
    OutputState,
    Result,
    Step,
    StepName,
)
from backtrail.domain.timeline import Lineage, lineage_of
from support.checkpoints.histories import LONG_AGO, PLAN, History

if TYPE_CHECKING:
    from support.checkpoints.histories import Place

Event = tuple[str, str, str]
"""What happened, the key of the step, and its digest or its outcome."""
KEYS = ("build", "test", "ship")
DIGESTS = ("one way", "another way")


@dataclass
class Held:
    """A step that holds, as replaying the events shows it."""

    key: str
    digest: str
    ended: str | None = None
    reuses: int = 0


def replay(events: list[Event]) -> list[Held]:
    """Who holds after these events, in the order of their starts."""
    held: list[Held] = []
    for what, key, detail in events:
        at = next((n for n, step in enumerate(held) if step.key == key), None)
        if what == "drop":
            held = held[:at]
        elif what == "start" and at is None:
            held.append(Held(key, detail))
        elif at is not None and what == "reuse":
            held[at].reuses += 1
        elif at is not None:
            held[at].ended = detail if what == "end" else None
    return held


@dataclass
class Story:
    """A plan that is driven through the program's rules, beside the model's list of events."""

    history: History = field(default_factory=History)
    steps: dict[str, Step] = field(default_factory=dict[str, Step])
    marks: list[Mark] = field(default_factory=list[Mark])
    events: list[Event] = field(default_factory=list[Event])
    checkpoints: list[tuple[Place, list[Event]]] = field(
        default_factory=list["tuple[Place, list[Event]]"]
    )
    wrong: list[str] = field(default_factory=list[str])

    @property
    def lineage(self) -> Lineage:
        return lineage_of(self.history.current, self.history.epochs)

    @property
    def ledger(self) -> Ledger:
        return ledger_of(self.steps.values(), self.marks, self.lineage)

    def save(self) -> None:
        """A checkpoint, to which a rollback may go."""
        self.checkpoints.append((self.history.add(), list(self.events)))

    def go_back(self, wish: int) -> None:
        """A rollback with its safety checkpoint, which an undo goes to."""
        self.save()
        place, events = self.checkpoints[wish % len(self.checkpoints)]
        self.history.go_to(place)
        self.events = list(events)
        self.save()

    def ask_for(self, key: str, digest: str, ending: str, size: int) -> None:
        """A step is asked for; it fails, succeeds, or is never heard of again."""
        entry = self.ledger.named(StepName(key))
        said = step_verdict(entry, Digests(digest, digest), reuse_failed=False)
        wanted = self._wanted(key, digest)
        if said is not wanted:
            self.wrong.append(f"{key} ({digest}): {said} instead of {wanted}")
        if said is StepVerdict.REUSE and entry:
            self._mark(entry.step, MarkKind.REUSED)
            self.events.append(("reuse", key, ""))
            return
        if said is StepVerdict.CHANGED and entry:
            self._mark(entry.step, MarkKind.DROPPED)
            self.events.append(("drop", key, ""))
        again = entry is not None and said is not StepVerdict.CHANGED
        step = entry.step if entry and again else self._step(key, digest)
        start = self._mark(step, MarkKind.STARTED)
        self.events.append(("start", key, digest))
        if ending == "checkpoint in flight":
            self.save()
        if ending != "crash":
            outcome = Outcome.FAILED if ending == "failed" else Outcome.SUCCEEDED
            result = Result(outcome, 0, output=OutputState.KEPT, output_bytes=size)
            self._mark(step, MarkKind.COMPLETED, start, result)
            self.events.append(("end", key, outcome))

    def _wanted(self, key: str, digest: str) -> StepVerdict:
        found = [step for step in replay(self.events) if step.key == key]
        if not found:
            return StepVerdict.NEW
        if found[0].digest != digest:
            return StepVerdict.CHANGED
        ended = {"succeeded": StepVerdict.REUSE, "failed": StepVerdict.FAILED_BEFORE}
        return ended.get(found[0].ended or "", StepVerdict.INTERRUPTED)

    def _step(self, key: str, digest: str) -> Step:
        step_id = StepId(f"s{len(self.steps) + 1}")
        self.steps[step_id] = Step(step_id, PLAN, StepName(key), digest, (key,), "")
        return self.steps[step_id]

    def _mark(
        self, step: Step, kind: MarkKind, start: Mark | None = None, result: Result | None = None
    ) -> Mark:
        epoch, position = self.history.add()
        mark = Mark(
            mark_id=MarkId(f"m{position}"),
            step_id=step.step_id,
            kind=kind,
            epoch=epoch,
            position=position,
            at=LONG_AGO,
            run_id=RunId(f"r{position}"),
            attempt_id=start.mark_id if start else None,
            result=result,
        )
        self.marks.append(mark)
        return mark


_asked = st.tuples(
    st.sampled_from(KEYS),
    st.sampled_from((DIGESTS[0], DIGESTS[0], DIGESTS[1])),
    st.sampled_from(("ok", "failed", "failed", "crash", "checkpoint in flight")),
    st.integers(0, 100),
)


# Mostly steps: a story of many ways back and few steps says little.
_deeds = st.one_of(*[_asked] * 8, st.none(), st.integers(0, 1000))


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """Steps that are asked for, checkpoints, and ways back to any of them."""
    story = Story()
    story.save()
    for deed in draw(st.lists(_deeds, min_size=10, max_size=30)):
        if deed is None:
            story.save()
        elif isinstance(deed, int):
            story.go_back(deed)
        else:
            story.ask_for(*deed)
    return story
