"""Executing the command of a run or of a tool, supervised to the end of its last process.

This is the place between the checkpoint before and the verdict after: whoever wants something
else than a plain command to happen there does it in `Execution.perform`.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from backtrail.domain.errors import ExitCode, LeaseLostError, RefusedError
from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from backtrail.domain.run import Cause, Ending
from backtrail.processes.alarm import Alarm
from backtrail.processes.child import Command, launch
from backtrail.processes.family import EndedProcesses, Family, adopting_orphans, named
from backtrail.processes.table import identity_of
from backtrail.services.lease import Timing

if TYPE_CHECKING:
    from backtrail.services.runs.active import ActiveRun


_COURTESY_SECONDS = 1.0
"""How long a command that got a Ctrl-C itself may take to tidy up before it is asked to end."""
_NOT_FOUND = (errno.ENOENT, errno.ENOTDIR)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command came to its end, and with it what it had started."""

    cause: Cause
    code: int
    """As a shell would say it."""
    processes: EndedProcesses = field(default_factory=EndedProcesses)
    not_started: OSError | None = None

    def remarks(self, what: str, name: str) -> list[str]:
        """What is worth saying of something that ended by itself: a command, or a tool."""
        if self.not_started is not None:
            absent = self.code == ExitCode.COMMAND_NOT_FOUND
            why = f"cannot be executed: {self.not_started.strerror}"
            return [f"{name} {'was not found' if absent else why}"]
        if self.processes.ended and self.cause is Cause.EXIT:
            return [f"ended what the {what} left running: {named(self.processes.ended)}"]
        return []


@dataclass(frozen=True, slots=True)
class Supervisor:
    """Whom a command belongs to, who may end it, and when."""

    owner: str
    """The id of the run or of the call; a run's processes carry it in their environment."""
    alarm: Alarm
    grace: float
    adopting: bool
    limit: float | None = None
    failpoints: Failpoints = NO_FAILPOINTS


class Supervised:
    """A command that stands at the gate until it is written down; then it is seen to its end."""

    def __init__(self, command: Command, supervisor: Supervisor) -> None:
        self._terminal = has_terminal()
        self._supervisor = supervisor
        self._child = launch(command, own_group=not self._terminal)
        self.identity = identity_of(self._child.pid)
        self._family = Family(supervisor.owner, self.identity, adopting=supervisor.adopting)

    @contextmanager
    def at_the_gate(self) -> Generator[Self]:
        """If anything goes wrong before the command is let through, it never begins."""
        try:
            yield self
        except BaseException:
            self._child.dismiss()
            raise

    def finish(self) -> Ended:
        """Let it through, wait for its end or bring it about, and end all that came of it."""
        by = self._supervisor
        problem = self._child.release()
        by.failpoints.reach("run.started")
        if problem is not None:
            absent = problem.errno in _NOT_FOUND
            code = ExitCode.COMMAND_NOT_FOUND if absent else ExitCode.NOT_EXECUTABLE
            return Ended(Cause.EXIT, code, not_started=problem)
        deadline = None if by.limit is None else time.monotonic() + by.limit
        code = None
        try:
            cause, code = self._child.wait(by.alarm, deadline)
            by.failpoints.reach("run.ended")
        finally:
            if self._terminal and signal.SIGINT in by.alarm.signals:
                self._let_it_tidy_up()
            gone = self._family.end(grace=by.grace, hurried=lambda: by.alarm.hurried)
            code = self._collected(code, gone)
        by.failpoints.reach("run.family_ended")
        return Ended(cause, code, gone)

    def _let_it_tidy_up(self) -> None:
        deadline, alarm = time.monotonic() + _COURTESY_SECONDS, self._supervisor.alarm
        while time.monotonic() < deadline and not alarm.hurried and self._family.members():
            time.sleep(0.02)

    def _collected(self, code: int | None, gone: EndedProcesses) -> int:
        """The command's own code; children that we adopted are let go, too."""
        for process in gone.ended:
            if process.pid != self._child.pid:
                with suppress(ChildProcessError):
                    os.waitpid(process.pid, os.WNOHANG)
        with suppress(ChildProcessError):
            code = code if code is not None else self._child.collect()
        return ExitCode.INTERRUPTED if code is None else code


def has_terminal() -> bool:
    """Whether a terminal controls us: then the command shares it, with Ctrl-C and Ctrl-Z."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _nothing() -> None:
    return


@dataclass(frozen=True, slots=True)
class Execution:
    """A command with its surroundings."""

    environ: Mapping[str, str]
    streams: Mapping[int, int] = field(default_factory=dict[int, int])
    adopt: bool = False
    """Whether this process exists for the command alone, and may end every child that it has."""
    before_start: Callable[[], None] = _nothing

    def perform(self, run: ActiveRun) -> Ending:
        """The command, and if it succeeded the check that was asked for."""
        with self.adopting() as own:
            ending = own.execute(run, run.order.argv)
            done = ending.exit_code == 0 and ending.cause is Cause.EXIT
            return own.after_success(run, ending) if done else ending

    @contextmanager
    def adopting(self) -> Generator[Self]:
        """As long as this lasts, orphans come to us if that was wanted and works here."""
        with adopting_orphans(wanted=self.adopt) as adopting:
            yield replace(self, adopt=adopting)

    def after_success(self, run: ActiveRun, ending: Ending) -> Ending:
        """The checkpoint and the check that were asked for."""
        options = run.order.options
        if options.wants_post_checkpoint:
            run.save_after()
        if options.verify is None:
            return ending
        checked = self.execute(run, ("/bin/sh", "-c", options.verify))
        codes = {"command_exit_code": ending.exit_code, "verify_exit_code": checked.exit_code}
        return replace(checked, details={**ending.details, **checked.details, **codes})

    def execute(self, run: ActiveRun, argv: tuple[str, ...]) -> Ending:
        """One command of a run."""
        if run.alarm.cause is not None:
            return Ending(
                run.alarm.cause, ExitCode.INTERRUPTED, started=run.run.command is not None
            )
        command = self._command(argv, Path(run.order.cwd), run.environment)
        supervisor = Supervisor(
            owner=run.run.run_id,
            alarm=run.alarm,
            grace=run.order.timing.grace,
            adopting=self.adopt,
            limit=run.order.options.timeout,
            failpoints=run.ws.failpoints,
        )
        supervised = Supervised(command, supervisor)
        with supervised.at_the_gate():
            run.ws.failpoints.reach("run.launched")
            run.mark_started(supervised.identity)
        ended = supervised.finish()
        if ended.cause is Cause.LOST:
            run.ws.database.check()
            raise LeaseLostError(
                f"run {run.run.number} could not be renewed for too long, and was ended"
            )
        return ending_of(run, ended, argv[0])

    def call_tool(
        self, argv: tuple[str, ...], directory: Path, environment: Mapping[str, str], call: str
    ) -> Ended:
        """A command that is no run; a signal that we get ends it: 130."""
        command = self._command(argv, directory, environment)
        alarm = Alarm()
        try:
            with alarm.on_signals(), self.adopting() as own:
                # The call's own id: processes of a run around us are no part of the call.
                supervisor = Supervisor(call, alarm, Timing().grace, own.adopt)
                ended = Supervised(command, supervisor).finish()
        finally:
            alarm.close()
        return ended if ended.cause is Cause.EXIT else replace(ended, code=ExitCode.INTERRUPTED)

    def _command(
        self, argv: tuple[str, ...], directory: Path, environment: Mapping[str, str]
    ) -> Command:
        self.before_start()
        return Command(argv, directory, {**self.environ, **environment}, self.streams)


def end_block(run: ActiveRun, cause: Cause, code: int = 1) -> Ending:
    """The end of a block of Python code, and of the processes that it gave the run's id."""
    gone = Family(run.run.run_id, None).end(grace=run.order.timing.grace)
    return ending_of(run, Ended(cause, code, gone))


def ending_of(run: ActiveRun, ended: Ended, name: str = "") -> Ending:
    """What the end of a command, or of a block of Python code, means for its run."""
    run.ws.notices.extend(ended.remarks("command", name))
    if ended.not_started is not None:
        details = {"not_started": str(ended.not_started.strerror)}
        return Ending(ended.cause, ended.code, started=False, details=details)
    details: dict[str, object] = {"cause": str(ended.cause), "command_exit_code": ended.code}
    gone, problem = ended.processes, None
    if gone.ended and ended.cause is Cause.EXIT:
        details["ended_processes"] = [str(process) for process in gone.ended]
    if gone.left:
        problem = RefusedError(
            f"some processes of run {run.run.number} cannot be ended: {named(gone.left)}",
            hint="end them yourself; nothing was rolled back",
            details={"processes": [str(process) for process in gone.left]},
        )
    return Ending(ended.cause, ended.code, details=details, problem=problem)
