"""Naive histories: every epoch keeps a copy of all that it can see, instead of parent and cut."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from backtrail.domain.checkpoint import CheckpointState, CheckpointType
from backtrail.domain.ids import CheckpointId, OperationId, PlanId
from backtrail.domain.lineage import Epoch
from backtrail.domain.timeline import TimelineRow

PLAN = PlanId("plan")
Place = tuple[int, int]
"""Epoch and position."""


@dataclass
class History:
    """A plan's past as copies: what each epoch began with, and what was added to it since."""

    epochs: dict[int, Epoch] = field(default_factory=lambda: {1: Epoch(PLAN, 1, None, None, None)})
    seen: dict[int, list[Place]] = field(default_factory=lambda: {1: []})
    places: list[Place] = field(default_factory=list[Place])
    current: int = 1

    def add(self) -> Place:
        """One more row on the current timeline."""
        place = (self.current, len(self.places) + 1)
        self.places.append(place)
        self.seen[self.current].append(place)
        return place

    def go_to(self, target: Place) -> None:
        """A new epoch that sees what the target saw, with the target as the last."""
        number = max(self.epochs) + 1
        epoch, position = target
        self.epochs[number] = Epoch(PLAN, number, epoch, position, OperationId(f"op{number}"))
        before = self.seen[epoch]
        self.seen[number] = before[: before.index(target) + 1]
        self.current = number

    def rows(self, marks: dict[Place, OperationId | None]) -> list[TimelineRow]:
        return [
            TimelineRow(
                checkpoint_id=CheckpointId(f"c{position}"),
                epoch=epoch,
                position=position,
                superseded_by=marks.get((epoch, position)),
                state=CheckpointState.FAILED if position % 5 == 0 else CheckpointState.COMPLETE,
                checkpoint_type=CheckpointType.MANUAL,
            )
            for epoch, position in self.places
        ]


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Rows and rollbacks to any earlier row, in any order; each epoch begins with a row."""
    history = History()
    history.add()
    for wish in draw(st.lists(st.none() | st.integers(0, 1000), max_size=25)):
        if wish is not None:
            history.go_to(history.places[wish % len(history.places)])
        history.add()
    return history
