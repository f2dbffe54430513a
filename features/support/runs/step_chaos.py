"""A script of many steps that is killed at random moments and run again, until it is through."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from support.program.forked import run_forked
from support.world import audit
from support.world.disk import walk
from support.world.examples import thorough

if TYPE_CHECKING:
    from support.world.world import World

STEPS = 20
KILLS, MANY_KILLS = 4, 60
_STEP_SECONDS, _REUSE_SECONDS = 0.5, 0.04
# $0 is the number of the step. It may be run again at any point of it, and comes to the same.
_COMMAND = (
    'echo "$PLAN_ID $0" >>"$COUNTED"; sleep 0.0$(($0 % 5)); '
    '{ cat "made by $(($0 - 1))" 2>/dev/null; echo "$0"; } | cksum >"by $0.new"; '
    'mv "by $0.new" "made by $0"; echo "done $0"'
)


@dataclass(slots=True)
class Chaos:
    """What happened in one scenario, round after round; each round has a plan of its own."""

    world: World
    seed: int = field(default_factory=lambda: random.randrange(10**6))
    plans: list[str] = field(default_factory=lambda: ["auth"])
    wrong: list[str] = field(default_factory=list[str])

    @property
    def counted(self) -> Path:
        return self.world.home / "counted"

    def run(self) -> None:
        chance, left = random.Random(self.seed), MANY_KILLS if thorough() else KILLS
        while left:
            left = self._round(self.plans[-1], chance, left)
            self.wrong += self._differences(self.plans[-1])
            if left:
                self.plans.append(f"round-{len(self.plans)}")
                self.world.create_plan(self.plans[-1])

    def _round(self, plan: str, chance: random.Random, left: int) -> int:
        """Kill until the script is through; how many kills are left for another round."""
        while left:
            script = self._start(plan)
            moment = chance.uniform(0, self._completed(plan) * _REUSE_SECONDS + _STEP_SECONDS)
            code = _ended_within(script, moment)
            if code is not None:
                self._check(code)
                return left
            _kill(script, and_command=chance.random() < 0.5)
            left -= 1
        script = self._start(plan)
        self._check(os.waitstatus_to_exitcode(os.waitpid(script, 0)[1]))
        return 0

    def _check(self, code: int) -> None:
        failed = self.world.home / "failed"
        told = failed.read_text() if failed.exists() else ""
        assert code == 0, f"the script ended with {code} (seed {self.seed}): {told}"

    def _start(self, plan: str) -> int:
        script = os.fork()
        if script == 0:
            os.setsid()
            for number in range(1, STEPS + 1):
                ran = run_forked(
                    self.world,
                    *("run", plan, "--step", f"step {number}"),
                    *("--", "sh", "-c", _COMMAND, str(number)),
                    env={"COUNTED": str(self.counted)},
                )
                if ran.code or f"done {number}\n" not in ran.out:
                    (self.world.home / "failed").write_text(f"step {number}: {ran}")
                    os._exit(ran.code or 99)
            os._exit(0)
        return script

    def _completed(self, plan: str) -> int:
        return sum(row["kind"] == "completed" for row in self.marks(plan))

    def marks(self, plan: str) -> list[dict[str, object]]:
        return audit.query(
            self.world,
            "SELECT s.key, m.kind, m.position FROM step_marks m JOIN steps s USING (step_id)"
            " JOIN plans p ON p.plan_id = s.plan_id WHERE p.name = ? ORDER BY m.position",
            plan,
        )

    def times(self, plan: str, key: str) -> int:
        rows = audit.query(self.world, "SELECT plan_id FROM plans WHERE name = ?", plan)
        wanted = f"{rows[0]['plan_id']} {key.removeprefix('step ')}"
        return self.counted.read_text().splitlines().count(wanted)

    def _differences(self, plan: str) -> list[str]:
        """Where the sandbox differs from one in which the commands ran without Backtrail."""
        calm = self.world.root / "calm"
        shutil.copytree(self.world.repo, calm, ignore=shutil.ignore_patterns(".git"))
        env = {**self.world.environment(), "COUNTED": os.devnull, "PLAN_ID": ""}
        for number in range(1, STEPS + 1):
            words = ["sh", "-c", _COMMAND, str(number)]
            subprocess.run(words, check=True, cwd=calm, env=env, stdout=subprocess.DEVNULL)
        expected, found = walk(calm), walk(self.world.sandbox(plan))
        shutil.rmtree(calm)
        return [
            f"plan {plan} (seed {self.seed}): {path!r} differs"
            for path in sorted({*expected, *found})
            if expected.get(path) != found.get(path)
        ]


def _ended_within(script: int, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        pid, status = os.waitpid(script, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    return None


def _kill(script: int, *, and_command: bool) -> None:
    """The script and its `plan`; and now and then all that is in its session."""
    # Stopped first, so that it starts nobody between the look and the kill.
    os.kill(script, signal.SIGSTOP)
    os.waitid(os.P_PID, script, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,sess="], capture_output=True, text=True, check=True
    )
    rows = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    doomed = [
        pid
        for pid, parent, session in rows
        if session == script and (and_command or script in (pid, parent))
    ]
    for pid in doomed:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    os.waitpid(script, 0)
    while any(_runs(pid) for pid in doomed):
        time.sleep(0.005)


def _runs(pid: int) -> bool:
    """A killed process is not gone at once."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return said.rpartition(")")[2].split()[0] not in "ZX"
