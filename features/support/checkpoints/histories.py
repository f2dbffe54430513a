"""Naive histories: every epoch keeps a copy of all that it can see, instead of parent and cut."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import strategies as st

from backtrail.domain.checkpoint import Checkpoint, CheckpointState, CheckpointType
from backtrail.domain.ids import CheckpointId, CommitId, OperationId, PlanId, SandboxId
from backtrail.domain.plan import Phase, Plan, PlanState, Sandbox, SandboxKind
from backtrail.domain.timeline import Epoch, TimelineRow

PLAN = PlanId("plan")
SANDBOX = SandboxId("sandbox")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
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

    def shown(self, *, tombstones: bool) -> list[Place]:
        """All of them, or those that did not fail, newest first."""
        kept = CheckpointState.COMPLETE
        return [p for p in reversed(self.places) if tombstones or self._state(p) is kept]

    def _state(self, place: Place) -> CheckpointState:
        """Every fifth came to nothing."""
        return CheckpointState.FAILED if place[1] % 5 == 0 else CheckpointState.COMPLETE

    def plan(self) -> Plan:
        """The plan whose past this is."""
        nowhere = Path("nowhere")
        sandbox = Sandbox(
            SANDBOX, PLAN, SandboxKind.OWN, nowhere, nowhere, None, None, "store", "host"
        )
        return Plan(
            plan_id=PLAN,
            repository_id="store",
            name="plan",
            phase=Phase.EXECUTE,
            state=PlanState.QUEUED,
            current_epoch=self.current,
            position=len(self.places),
            parent_plan_id=None,
            base_ref=None,
            applied_commit=None,
            created_at=LONG_AGO,
            sandbox=sandbox,
        )

    def checkpoints(self) -> list[Checkpoint]:
        """A checkpoint for each row, marked as it must be."""
        live = self.seen[self.current]
        return [self._checkpoint(place, live=place in live) for place in self.places]

    def _checkpoint(self, place: Place, *, live: bool) -> Checkpoint:
        epoch, position = place
        return Checkpoint(
            checkpoint_id=CheckpointId(f"c{position}"),
            plan_id=PLAN,
            seq=position,
            position=position,
            epoch=epoch,
            checkpoint_type=CheckpointType.MANUAL,
            state=self._state(place),
            sandbox_ref=CommitId("0" * 40),
            resource_id=SANDBOX,
            decision_id=None,
            parent_checkpoint_id=None,
            superseded_by=None if live else OperationId("op"),
            filesystem_path="nowhere",
            size_bytes=0,
            label=None,
            pinned=False,
            verified_green=False,
            last_completed_step=None,
            created_at=LONG_AGO,
        )

    def rows(self, marks: dict[Place, OperationId | None]) -> list[TimelineRow]:
        return [
            TimelineRow(
                checkpoint_id=CheckpointId(f"c{position}"),
                epoch=epoch,
                position=position,
                superseded_by=marks.get((epoch, position)),
                state=self._state((epoch, position)),
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
