"""Killing `plan run` at its failpoints, and looking at what the next command makes of it."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from support.crashes.crashes import KILLED, Crash, Frozen
from support.program.forked import KillHere, run_forked
from support.program.running import is_alive
from support.world import audit

if TYPE_CHECKING:
    from support.world.world import World

WRECK = "echo bad >work.txt; (sleep 600 &); exit 7"
FAILING = ("run", "auth", "--on-failure", "rollback", "--", "sh", "-c", WRECK)
CHECKED = ("run", "auth", "--verify", "true", "--", "sh", "-c", "echo bad >work.txt")
TAKING_OVER = ("run.taken_over", "run.orphans_ended", "run.crash_closed")
DURING_ROLLBACK = (
    "create.pinned",
    "rollback.restoring",
    "rollback.git_restored",
    "rollback.landed",
)
STATUSES = ("interrupted", "error", "rolled_back", "success")


def kill_everywhere(world: World, places: set[str]) -> list[Crash]:
    """One story for each place."""
    frozen = Frozen.of(world, "before runs")
    stories: list[Crash] = []
    try:
        for place in (*sorted(places), *DURING_ROLLBACK):
            stories.append(_story(world, place))
            frozen.thaw()
    finally:
        frozen.drop()
    return stories


def _story(world: World, place: str) -> Crash:
    crash = Crash([place])
    if place in TAKING_OVER:
        _killed(world, "run.started", FAILING)
        _killed(world, place, ("save", "auth"))
    else:
        _killed(world, place, CHECKED if place == "run.saved_after" else FAILING)
    _look(world, crash)
    return crash


def _killed(world: World, place: str, words: tuple[str, ...]) -> None:
    ran = run_forked(world, *words, failpoints=KillHere(place))
    assert ran.code == KILLED, (place, ran)


def _look(world: World, crash: Crash) -> None:
    ran = run_forked(world, "save", "auth")
    crash.note("usable", [] if ran.code == 0 else [f"save gave {ran}"])
    [row] = audit.query(world, "SELECT * FROM runs WHERE number = 1")
    crash.note("usable", [f"{p} is alive" for p in carriers(row["run_id"])])
    if row["live_plan_id"] is not None or row["status"] not in STATUSES:
        crash.note("over", [f"the run is {row['status']}"])
    text = (world.sandbox("auth") / "work.txt").read_text()
    wanted = "at one\n" if row["status"] == "rolled_back" else None
    if text not in ("at one\n", "bad\n") or wanted not in (None, text):
        crash.note("over", [f"{row['status']}, and work.txt holds {text!r}"])
    crash.note("over", audit.problems(world))
    again = run_forked(world, "run", "auth", "--", "true")
    crash.note("again", [] if again.code == 0 else [f"{again}"])


def carriers(run_id: str) -> list[int]:
    """Processes that carry the id of a run, found without the program."""
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as environ:
                carries = f"PLAN_RUN_ID={run_id}".encode() in environ.read().split(b"\0")
        except OSError:
            carries = False
        if carries and is_alive(int(name)):
            found.append(int(name))
    return found


def kill_all(run_id: str) -> None:
    for pid in carriers(run_id):
        os.kill(pid, signal.SIGKILL)
