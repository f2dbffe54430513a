"""Functions that Python steps call; each call is counted in a file outside the sandbox."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from backtrail.domain.errors import RunAbortedError
from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from support.program.forked import KillHere

if TYPE_CHECKING:
    from backtrail.services.runs.service import RunService
    from support.world.world import World


@dataclass(slots=True)
class Program:
    """A Python program whose lines are steps of plan `auth`."""

    world: World
    results: list[Any] = field(default_factory=list[Any])
    error: Exception | None = None
    notices: list[str] = field(default_factory=list[str])

    def run(self, calls: str, *, failpoints: Failpoints = NO_FAILPOINTS, **options: object) -> None:
        """Every call as a step of one run; the first exception ends it."""
        self.results, self.error = [], None
        with self.world.services(failpoints) as services:
            plan = services.plans.resolve("auth").plan_id
            known = {f.__name__: self._step(services.runs, f, options) for f in self._functions()}
            try:
                with services.runs.run(plan):
                    self.results = eval(f"[{calls}]", {}, known)
            except Exception as error:  # noqa: BLE001 - the scenario looks at it
                self.error = error
            self.notices = list(services.notices)

    def run_killed(self, calls: str, place: str) -> int:
        """The same in a process that dies; how it ended."""
        child = os.fork()
        if child == 0:
            self.run(calls, failpoints=KillHere(place))
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def outside(self) -> None:
        with self.world.services() as services:
            try:
                services.runs.step("add", max, 1, 2)
            except Exception as error:  # noqa: BLE001 - as above
                self.error = error

    def called(self) -> list[str]:
        path = self.world.home / "called"
        return path.read_text().split() if path.exists() else []

    def _step(
        self, runs: RunService, function: Callable[..., Any], options: dict[str, Any]
    ) -> Callable[..., Any]:
        name = function.__name__

        def counting(*arguments: object) -> object:
            with (self.world.home / "called").open("a") as file:
                file.write(f"{name}\n")
            return function(runs, *arguments)

        return lambda *arguments: runs.step(name, counting, *arguments, **options)

    @staticmethod
    def _functions() -> tuple[Callable[..., Any], ...]:
        return (add, pair, nothing, fail, opaque, nested, aborted)


def add(_: RunService, one: int, other: int) -> int:
    return one + other


def pair(_: RunService, one: object, other: object) -> tuple[object, object]:
    return one, other


def nothing(_: RunService) -> None:
    return


def fail(_: RunService, why: str) -> NoReturn:
    raise ValueError(why)


def opaque(_: RunService) -> object:
    return object()


def nested(runs: RunService) -> object:
    return runs.step("inner", max, 1, 2)


def aborted(_: RunService) -> NoReturn:
    raise RunAbortedError("somebody asked for the end of the run")
