"""Processes that hold a run with a short lease, and others that come in between."""

from __future__ import annotations

import os
import random
import signal
import time
import traceback
from typing import TYPE_CHECKING

from backtrail.bootstrap import Services, open_services
from backtrail.domain.errors import BacktrailError
from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from backtrail.domain.run import AbortAction, OnFailure, RunOptions
from backtrail.services.lease import Timing
from backtrail.services.runs.service import RunService
from support.program import running
from support.world.examples import thorough

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.world.world import Ran, World

SHORT = Timing(lease=0.8, renew=0.1, look=0.05, grace=1.0)
ROUNDS, MANY_ROUNDS = 2, 50
# Whoever finds the lock taken was started while another command was alive.
ALONE = (
    "flock -n -E 99 \"{place}/lock\" sh -c 'echo $PLAN_RUN_ID >work.txt; sleep 0.2';"
    ' code=$?; [ $code != 99 ] || touch "{place}/together"; exit $code'
)


def hold(world: World, name: str, script: str, failpoints: Failpoints = NO_FAILPOINTS) -> int:
    """Fork a process that runs a script as `plan run` does; its exit code is the error's."""

    def run(services: Services) -> int:
        plan = services.plans.resolve(name)
        options = RunOptions(OnFailure.ROLLBACK, AbortAction.ROLLBACK)
        runs = RunService(services.workspace, world.environment(), SHORT)
        return runs.execute(plan.plan_id, ("sh", "-c", script), options).exit_code

    return forked(world, run, failpoints)


def forked(
    world: World,
    action: Callable[[Services], int | None],
    failpoints: Failpoints = NO_FAILPOINTS,
) -> int:
    """Fork a process that does something with services of its own, and is stopped and resumed."""
    holder = os.fork()
    if holder == 0:
        os.setsid()
        code = 99
        try:
            environ = world.environment()
            services = open_services(
                world.repo, environ, command_line="holder", failpoints=failpoints
            )
            code = action(services) or 0
        except BacktrailError as error:
            code = error.exit_code
        except BaseException:  # noqa: BLE001 - told by its code, and here
            traceback.print_exc()
        finally:
            os._exit(code)
    return holder


def wait_until_stopped(pid: int) -> None:
    os.waitpid(pid, os.WUNTRACED)


def stop_between_writes(world: World, pid: int) -> None:
    """Stop a process where it holds up nobody who writes: that is another story."""
    while True:
        os.kill(pid, signal.SIGSTOP)
        wait_until_stopped(pid)
        if not world.rows.being_written():
            return
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.01)


def longer_than_the_lease() -> None:
    time.sleep(SHORT.lease + 0.3)


class StopHere:
    """Stops this process at a named place, as SIGSTOP from elsewhere would."""

    def __init__(self, name: str) -> None:
        self._name = name

    def reach(self, name: str) -> None:
        if name == self._name:
            os.kill(os.getpid(), signal.SIGSTOP)


def race(world: World, strategy: str) -> list[tuple[Ran, Ran]]:
    """Two processes that start a run each at nearly the same time, some rounds of it."""
    rng = random.Random(strategy)
    script = ALONE.format(place=world.root)
    words = ("run", "auth", "--if-running", strategy, "--", "sh", "-c", script)
    rounds: list[tuple[Ran, Ran]] = []
    for _round in range(MANY_ROUNDS if thorough() else ROUNDS):
        one = running.start(world, *words)
        time.sleep(rng.uniform(0, 0.5))
        other = running.start(world, *words)
        rounds.append((one.wait(), other.wait()))
    return rounds
