"""Killing the program by SIGKILL wherever it can be, and looking at what comes of it."""

from __future__ import annotations

import importlib
import os
import random
import re
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import backtrail
from support.program.forked import run_forked
from support.world import audit
from support.world.examples import thorough
from support.world.picture import Picture, picture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from support.world.world import Ran, World

KILLED = -signal.SIGKILL
NEXT = ("save", "auth")
END_OF_RECOVERY = "recovery.done"


with suppress(ImportError):
    # Typer loads this when it first converts an argument; forks should find it loaded.
    importlib.import_module("typer._adapters")
    importlib.import_module("pydantic.type_adapter")


class KillAtPassage:
    """Dies at the nth failpoint that is passed, whichever it is, and leaves its name in a file."""

    def __init__(self, nth: int, told: Path) -> None:
        self._left = nth
        self._told = told

    def reach(self, name: str) -> None:
        self._left -= 1
        if self._left == 0:
            self._told.write_text(name)
            os.kill(os.getpid(), signal.SIGKILL)


def all_failpoints(*families: str) -> set[str]:
    """Every failpoint that the program's source names, of families such as `create`."""
    root = Path(backtrail.__file__).parent
    texts = (path.read_text() for path in root.rglob("*.py"))
    names = {name for text in texts for name in re.findall(r'\.reach\("([\w.]+)"\)', text)}
    return {name for name in names if name.split(".")[0] in families}


@dataclass(slots=True)
class Crash:
    """One story: where the program was killed, and what was found wrong afterwards."""

    places: list[str]
    wrong: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def note(self, topic: str, problems: list[str]) -> None:
        self.wrong.setdefault(topic, []).extend(problems)


@dataclass(slots=True)
class Frozen:
    """A copy of the whole world, to begin again from; hard links stay hard links."""

    world: World
    copy: Path
    rows: object

    @classmethod
    def of(cls, world: World, name: str) -> Frozen:
        copy = world.root.with_name(f"{world.root.name} {name}")
        frozen = cls(world, copy, world.rows.freeze())
        frozen.drop()
        _copy(world.root, frozen.copy)
        return frozen

    def thaw(self) -> None:
        shutil.rmtree(self.world.root)
        _copy(self.copy, self.world.root)
        self.world.rows.thaw(self.rows)

    def drop(self) -> None:
        shutil.rmtree(self.copy, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


def kill_at(world: World, nth: int, *arguments: str) -> tuple[Ran, str | None]:
    """Run `plan` and kill it at the nth failpoint; the name is None if it has fewer."""
    told = world.home / "killed at"
    told.unlink(missing_ok=True)
    ran = run_forked(world, *arguments, failpoints=KillAtPassage(nth, told))
    if ran.code == KILLED:
        return ran, told.read_text()
    ran.ok()
    return ran, None


@dataclass(slots=True)
class Acknowledged:
    """What the user was told is safe: checkpoints with the files and the git state they hold."""

    pictures: dict[str, Picture]
    """By label."""

    def lost(self, world: World) -> list[str]:
        """Checkpoints whose files in the store are not byte for byte what was saved."""
        rows = audit.query(world, "SELECT label, sandbox_ref, state FROM checkpoint_metadata")
        by_label = {str(row["label"]): row for row in rows if row["label"]}
        found: list[str] = []
        for label, was in self.pictures.items():
            row = by_label.get(label)
            if row is None or row["state"] != "complete":
                found.append(f"checkpoint {label!r} is gone: {row}")
            elif audit.stored_files(world, str(row["sandbox_ref"])) != was.without_directories():
                found.append(f"checkpoint {label!r} has other files")
        return found

    def not_restored(self, world: World, turn: int, look: Callable[[], Picture]) -> list[str]:
        """What a rollback does not bring back exactly: to all of them, or now and then to one."""
        labels = list(self.pictures)
        found: list[str] = []
        for label in labels if thorough() else labels[turn % 6 : turn % 6 + 1]:
            ran = run_forked(world, "rollback", "auth", label, "--yes")
            if ran.code:
                found.append(f"rollback to {label!r} gave {ran.code}: {ran.err}")
            else:
                found += [f"at {label!r}: {d}" for d in self.pictures[label].differences(look())]
        return found


@dataclass(slots=True)
class Matrix:
    """One command of plan `auth`, killed everywhere; `goal` is the sandbox as it makes it."""

    world: World
    command: tuple[str, ...]
    acknowledged: Acknowledged
    goal: Picture
    crashes: list[Crash] = field(default_factory=list[Crash])

    def look(self) -> Picture:
        return picture(self.world, self.world.sandbox("auth"), "plan/auth")

    def kill_once(self, families: tuple[str, ...] = ()) -> None:
        """Each failpoint in turn; then the next command; then every checkpoint is tried.

        With families, what comes of a kill is looked at for those alone, unless it is thorough.
        """
        before = self.look()
        for turn, (place, state) in enumerate(self._first_kills()):
            crash = Crash([place])
            if families and place.split(".")[0] not in families and not thorough():
                self.crashes.append(crash)
                continue
            self._go_on(crash, before, state, and_back=True)
            crash.note("exact", self.acknowledged.lost(self.world))
            crash.note("exact", self.acknowledged.not_restored(self.world, turn, self.look))
            crash.note("invariant", audit.problems(self.world))
            self.crashes.append(crash)

    def kill_twice(self, *, stride: int) -> None:
        """Each failpoint in turn, and of the recovery in the next command every `stride`th one.

        The first of these is another one each time, so that each is met after some crash.
        """
        before = self.look()
        for turn, (place, state) in enumerate(self._first_kills()):
            if not audit.unfinished(self.world):
                continue
            crashed = Frozen.of(self.world, "crashed")
            for again in self._kills_in_recovery(crashed, range(1 + turn % stride, 100, stride)):
                crash = Crash([place, again])
                self._go_on(crash, before, state, and_back=thorough())
                crash.note("exact", self.acknowledged.lost(self.world))
                self.crashes.append(crash)
            crashed.drop()

    def edit_after_kill(self, edit: Callable[[], None]) -> None:
        """At each failpoint after which files may be half changed, somebody goes on working."""
        before = self.look()
        for place, state in self._first_kills():
            if state != "restoring":
                continue
            crash = Crash([place])
            edit()
            self._leave_alone(crash, before)
            crash.note("exact", self.acknowledged.lost(self.world))
            self.crashes.append(crash)

    def _leave_alone(self, crash: Crash, before: Picture) -> None:
        edited = self.look()
        ran = run_forked(self.world, *NEXT)
        crash.note("usable", [] if ran.code == 0 else [f"{NEXT} gave {ran.code}: {ran.err}"])
        crash.note("sandbox", edited.differences(self.look()))
        if "plan undo auth" not in ran.err:
            crash.note("told", [f"the notice does not say what to type: {ran.err!r}"])
        crash.note("invariant", audit.problems(self.world))
        run_forked(self.world, "undo", "auth").ok()
        crash.note("sandbox", [f"after undo: {d}" for d in before.differences(self.look())])
        kept = audit.query(
            self.world,
            "SELECT seq FROM checkpoint_metadata WHERE checkpoint_type = 'on_error' ORDER BY seq",
        )
        if not kept:
            crash.note("exact", ["the edited state is in no checkpoint"])
            return
        run_forked(self.world, "rollback", "auth", str(kept[-1]["seq"]), "--yes").ok()
        crash.note("exact", [f"kept state: {d}" for d in edited.differences(self.look())])

    def _first_kills(self) -> Iterator[tuple[str, str]]:
        """The world as a kill leaves it, for each failpoint; with the operation's state then."""
        start = Frozen.of(self.world, "start")
        try:
            for nth in range(1, 100):
                _, place = kill_at(self.world, nth, *self.command)
                if place is None:
                    return
                yield place, self._operation_state()
                start.thaw()
        finally:
            start.drop()

    def _kills_in_recovery(self, crashed: Frozen, passages: Iterable[int]) -> Iterator[str]:
        for nth in passages:
            _, place = kill_at(self.world, nth, *NEXT)
            if place is None:
                return
            yield place
            if place == END_OF_RECOVERY or place.startswith("create."):
                return
            crashed.thaw()

    def _operation_state(self) -> str:
        # What is pruned after an operation says nothing about the operation.
        newest = audit.query(
            self.world,
            "SELECT kind, state FROM operations WHERE kind != 'prune' ORDER BY number DESC LIMIT 1",
        )
        kind, state = str(newest[0]["kind"]), str(newest[0]["state"])
        return state if kind == self.command[0] else "none"

    def _go_on(self, crash: Crash, before: Picture, state: str, *, and_back: bool) -> None:
        """The next command repairs; the sandbox is as before, or as it was to become."""
        ran = run_forked(self.world, *NEXT)
        crash.note("usable", [] if ran.code == 0 else [f"{NEXT} gave {ran.code}: {ran.err}"])
        crash.note("invariant", audit.problems(self.world))
        reached = state in ("restoring", "done")
        wanted = self.goal if reached else before
        crash.note("sandbox", wanted.differences(self.look()))
        if reached and and_back:
            # What the operation took away must be one undo (for an undo, one redo) away.
            back = "redo" if self.command[0] == "undo" else "undo"
            ran = run_forked(self.world, back, "auth")
            crash.note("usable", [] if ran.code == 0 else [f"{back} gave {ran.code}: {ran.err}"])
            crash.note("sandbox", [f"after {back}: {d}" for d in before.differences(self.look())])


def report(crashes: list[Crash], topic: str) -> str:
    """The problems on one topic, each with the places where the program was killed."""
    return "\n".join(
        f"killed at {' and then at '.join(crash.places)}: {problem}"
        for crash in crashes
        for problem in crash.wrong.get(topic, [])
    )


def random_kills(world: World, command: list[str], count: int) -> list[Crash]:
    """Kill the whole process group at moments that no failpoint names; the seed is told."""
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    crashes: list[Crash] = []
    for number in range(count):
        (world.sandbox("auth") / "work.txt").write_text(f"round {number}\n" * 50)
        after = moments.uniform(0.0, 0.4)
        crash = Crash([f"{after:.3f} s after its start (seed {seed}, round {number})"])
        run_and_kill(world, after, *command)
        ran = run_forked(world, *NEXT)
        crash.note("any", [] if ran.code == 0 else [f"{NEXT} gave {ran.code}: {ran.err}"])
        crash.note("any", audit.problems(world))
        crashes.append(crash)
    return crashes


def run_and_kill(world: World, after: float, *arguments: str) -> None:
    """Start the program in a session of its own, and kill all that is in it after some time."""
    child = os.fork()
    if child == 0:
        os.setsid()
        run_forked(world, *arguments)
        os._exit(0)
    time.sleep(after)
    for pid in _session(child):
        _kill(pid)
    os.waitpid(child, 0)


def _session(leader: int) -> list[int]:
    """Every process of the leader's session; git runs in process groups of its own."""
    listed = subprocess.run(["ps", "-eo", "pid=,sess="], capture_output=True, text=True, check=True)
    pairs = (line.split() for line in listed.stdout.splitlines())
    return [int(pid) for pid, session in pairs if int(session) == leader]


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
