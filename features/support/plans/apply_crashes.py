"""Killing an apply wherever it can be, and looking at what the next commands make of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from support.crashes.crashes import Crash, Frozen, kill_at
from support.plans import applying
from support.program.forked import run_forked
from support.world import audit

if TYPE_CHECKING:
    from support.world.world import World

ONTO = "main"


@dataclass(slots=True)
class KilledApplies:
    """One apply, killed at each of its failpoints in turn."""

    world: World
    command: tuple[str, ...]
    before: str = ""
    edits: dict[str, str] = field(default_factory=dict[str, str])
    crashes: list[Crash] = field(default_factory=list[Crash])

    def kill_everywhere(self) -> None:
        self.before = applying.head(self.world, ONTO)
        start = Frozen.of(self.world, "start")
        try:
            self._expect()
            for nth in range(1, 100):
                start.thaw()
                _, place = kill_at(self.world, nth, *self.command)
                if place is None:
                    return
                self.crashes.append(self._go_on(place))
        finally:
            start.drop()

    def _expect(self) -> None:
        """What the user's checkout is like if nobody is killed."""
        run_forked(self.world, *self.command).ok()
        self.edits = applying.edits(self.world)

    def _go_on(self, place: str) -> Crash:
        crash, world = Crash([place]), self.world
        if applying.head(world, ONTO) != self.before:
            crash.note("branch", applying.landed(world, ONTO))
        saved = run_forked(world, "save", self.command[1])
        crash.note("next", [] if saved.code == 0 else [saved.err])
        crash.note("next", audit.problems(world))
        again = run_forked(world, *self.command)
        fine = again.code == 0 or "applied already" in again.err
        crash.note("applied", [] if fine else [again.err])
        crash.note("applied", applying.landed(world, ONTO))
        crash.note("applied", audit.problems(world))
        first_parents = world.git("rev-list", "--first-parent", f"{self.before}..{ONTO}")
        if len(first_parents.split()) != 1:
            crash.note("applied", [f"the branch went {first_parents!r}"])
        if applying.edits(world) != self.edits:
            crash.note("applied", [f"edits: {applying.edits(world)} instead of {self.edits}"])
        left = [str(p) for p in world.root.glob("*.plans/.apply-*")]
        crash.note("applied", left)
        return crash
