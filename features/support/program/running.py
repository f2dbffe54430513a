"""The program in the background: a fork that goes on while a scenario does other things."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from backtrail.git.process.environment import git_executable
from support.program.forked import be_the_program, text_of
from support.world.world import PATIENCE_SECONDS, Ran, World

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(slots=True)
class Running:
    """A `plan` that was started and has still to be waited for."""

    pid: int
    arguments: tuple[str, ...]
    out: BinaryIO
    err: BinaryIO

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """As a crash would: nothing of it can tidy up."""
        self.send(signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def end(self) -> None:
        """By a signal that it can tidy up after, unless it was waited for already."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        os.waitpid(self.pid, 0)

    def wait(self) -> Ran:
        _, status = os.waitpid(self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        return Ran(
            ("plan", *self.arguments), code, text_of(self.out), text_of(self.err)
        ).documented()


_started: list[Running] = []


def start(
    world: World,
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    failpoints: Failpoints = NO_FAILPOINTS,
) -> Running:
    """Start `plan` with these arguments in a session of its own."""
    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115 - read later
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.chdir(cwd or world.repo)
        os.environ.clear()
        os.environ.update({**world.environment(), **(env or {})})
        git_executable.cache_clear()  # a new process looks for git on its own PATH
        be_the_program(arguments, out, err, failpoints)
    _started.append(Running(pid, arguments, out, err))
    return _started[-1]


def end_all() -> None:
    """What a scenario left running must not outlive it."""
    while _started:
        with suppress(ProcessLookupError, ChildProcessError):
            _started.pop().end()


def wait_until(happened: Callable[[], object], what: str) -> None:
    """Look again and again until something has happened."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and is not collected yet does not."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def child_of(pid: int, word: str) -> int | None:
    """A child of a process that has this word among its arguments."""
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        named = (c for c in children if word in Path(f"/proc/{c}/cmdline").read_text())
        return next(map(int, named), None)
    return None


def waits_in(pid: int, word: str) -> bool:
    """Whether a process has a child with this word among its arguments."""
    return child_of(pid, word) is not None
