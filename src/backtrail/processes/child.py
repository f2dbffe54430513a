"""A child of ours that becomes a command: from the gate where it waits to its exit code.

The child stands at a gate, a pipe, and does nothing before the parent says so: its start is to be
written down first. If the parent dies before that, the gate closes, and the command never begins.
"""

from __future__ import annotations

import os
import selectors
import signal
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from backtrail.domain.run import Cause
from backtrail.processes.alarm import ENDING_SIGNALS

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.processes.alarm import Alarm

# Python ignores these; a command expects them as it would find them in a shell.
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_NOT_STARTED = 127
_LOOK_SECONDS = 0.05
"""How often to look where the kernel cannot tell that a process has ended."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be started, where and with what."""

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    streams: Mapping[int, int] = field(default_factory=dict[int, int])
    """By descriptor of the command, the descriptor of ours that it is given; others as they are."""


class Child:
    """It stands at the gate until it is released or dismissed."""

    def __init__(self, pid: int, gate: int, report: int) -> None:
        self.pid = pid
        self._gate = gate
        self._report = report

    def release(self) -> OSError | None:
        """Let it go on; what speaks against its start, if anything does: then it is gone."""
        os.write(self._gate, b"!")
        os.close(self._gate)
        with os.fdopen(self._report, "rb") as report:
            said = report.read()
        if not said:
            return None
        os.waitpid(self.pid, 0)
        return OSError(int(said), os.strerror(int(said)))

    def dismiss(self) -> None:
        """Send it home without having started anything."""
        os.close(self._gate)
        os.close(self._report)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def wait(self, alarm: Alarm, deadline: float | None) -> tuple[Cause, int | None]:
        """Why waiting ended, and the code if the command ended by itself; else it runs on."""
        with ExitStack() as stack:
            looking = stack.enter_context(selectors.DefaultSelector())
            looking.register(alarm, selectors.EVENT_READ)
            told = self._tells_of_its_end(looking, stack)
            while True:
                if alarm.cause is not None:
                    return alarm.cause, None
                code = self.collect()
                if code is not None:
                    return Cause.EXIT, code
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return Cause.TIMEOUT, None
                pauses = [p for p in (left, None if told else _LOOK_SECONDS) if p is not None]
                looking.select(min(pauses, default=None))
                alarm.heard()

    def _tells_of_its_end(self, looking: selectors.BaseSelector, stack: ExitStack) -> bool:
        try:
            descriptor = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            return False
        stack.callback(os.close, descriptor)
        looking.register(descriptor, selectors.EVENT_READ)
        return True

    def collect(self) -> int | None:
        """How it ended, as a shell would say it; None while it runs."""
        found, status = os.waitpid(self.pid, os.WNOHANG)
        if found == 0:
            return None
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else 128 - code


def launch(command: Command, *, own_group: bool) -> Child:
    """A child that becomes the command once it is let through."""
    gate_in, gate_out = os.pipe()
    report_in, report_out = os.pipe()
    # A signal that arrives in between must not run a handler of ours in the child.
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        pid = os.fork()
        if pid == 0:
            os.close(gate_out)
            _become(command, gate_in, report_out, masked, own_group=own_group)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
    os.close(gate_in)
    os.close(report_out)
    return Child(pid, gate_out, report_in)


def _become(
    command: Command, gate: int, report: int, masked: set[int], *, own_group: bool
) -> NoReturn:
    """What the child does; it never comes back."""
    try:
        if own_group:
            os.setpgid(0, 0)
        if os.read(gate, 1):
            os.chdir(command.cwd)
            for theirs, ours in command.streams.items():
                os.dup2(ours, theirs)
            for number in (*ENDING_SIGNALS, *_IGNORED_BY_PYTHON):
                _as_in_a_shell(number)
            signal.set_wakeup_fd(-1)
            signal.pthread_sigmask(signal.SIG_SETMASK, masked)
            os.execvpe(command.argv[0], command.argv, command.environment)
    except OSError as error:
        os.write(report, str(error.errno).encode())
    finally:
        os._exit(_NOT_STARTED)


def _as_in_a_shell(number: int) -> None:
    if number in _IGNORED_BY_PYTHON or signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
