"""Executing the command of a run or a tool: started, supervised, ended with all its processes.

This is the place between the checkpoint before and the verdict after: whoever wants something
else than a plain command to happen there does it in `Execution.perform`.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.domain.errors import ExitCode, LeaseLostError, RefusedError
from backtrail.domain.run import Cause, Ending
from backtrail.processes.alarm import Alarm
from backtrail.processes.ending import EndedProcesses, end_all, named
from backtrail.processes.family import Family, adopting_orphans
from backtrail.processes.identity import identity_of
from backtrail.processes.launch import Command, launch
from backtrail.processes.waiting import Ended, collect, wait_for
from backtrail.services.lease import Timing

if TYPE_CHECKING:
    from backtrail.domain.tools import ToolCall
    from backtrail.services.runs.active import ActiveRun


_COURTESY_SECONDS = 1.0
"""How long a command that got a Ctrl-C itself may take to tidy up before it is asked to end."""
_NOT_FOUND = (errno.ENOENT, errno.ENOTDIR)


def _nothing() -> None:
    return


@dataclass(frozen=True, slots=True)
class Execution:
    """A command with its surroundings."""

    environ: Mapping[str, str]
    streams: Mapping[int, int] = field(default_factory=dict[int, int])
    adopt: bool = False
    """Whether this process exists for the run alone, and may end every child that it has."""
    before_start: Callable[[], None] = _nothing

    def perform(self, run: ActiveRun) -> Ending:
        """The command, and if it succeeded the check that was asked for."""
        with adopting_orphans(wanted=self.adopt) as adopting:
            own = replace(self, adopt=self.adopt and adopting)
            ending = own.execute(run, run.order.argv, limit=run.order.options.timeout)
            if ending.exit_code == 0 and ending.cause is Cause.EXIT:
                return own.after_success(run, ending)
            return ending

    def after_success(self, run: ActiveRun, ending: Ending) -> Ending:
        options = run.order.options
        if options.wants_post_checkpoint:
            run.save_after()
        if options.verify is None:
            return ending
        checked = self.execute(run, ("/bin/sh", "-c", options.verify), limit=options.timeout)
        codes = {"command_exit_code": ending.exit_code, "verify_exit_code": checked.exit_code}
        details = {**ending.details, **checked.details, **codes}
        return replace(checked, details=details)

    def end_block(self, run: ActiveRun, cause: Cause, code: int = 1) -> Ending:
        """The end of a block of Python code, and of the processes that it gave the run's id."""
        family = Family(run.run.run_id, None)
        return _ending(run, cause, code, end_all(family.members, grace=run.timing.grace))

    def execute(self, run: ActiveRun, argv: tuple[str, ...], *, limit: float | None) -> Ending:
        """One command from its start to the end of the last process that came of it."""
        if run.alarm.cause is not None:
            return Ending(
                run.alarm.cause, ExitCode.INTERRUPTED, started=run.run.command is not None
            )
        self.before_start()
        terminal = has_terminal()
        environment = {**self.environ, **run.environment}
        command = Command(argv, Path(run.order.cwd), environment, self.streams)
        child = launch(command, own_group=not terminal)
        who = identity_of(child.pid)
        try:
            run.ws.failpoints.reach("run.launched")
            run.mark_started(who)
        except BaseException:
            child.dismiss()
            raise
        problem = child.release()
        run.ws.failpoints.reach("run.started")
        if problem is not None:
            os.waitpid(child.pid, 0)
            return _not_started(run, argv, problem)
        return self._see_it_through(run, child.pid, who, limit=limit, terminal=terminal)

    def _see_it_through(
        self, run: ActiveRun, pid: int, who: str, *, limit: float | None, terminal: bool
    ) -> Ending:
        family = Family(run.run.run_id, who, adopting=self.adopt)
        deadline = None if limit is None else time.monotonic() + limit
        ended = Ended(Cause.LOST)
        try:
            ended = wait_for(pid, run.alarm, deadline=deadline)
            run.ws.failpoints.reach("run.ended")
        finally:
            if terminal and signal.SIGINT in run.alarm.signals:
                _let_it_tidy_up(run, family)
            gone = end_all(
                family.members, grace=run.timing.grace, hurried=lambda: run.alarm.hurried
            )
            code = _collected(pid, ended, gone)
        run.ws.failpoints.reach("run.family_ended")
        if ended.cause is Cause.LOST:
            run.ws.database.check()
            raise LeaseLostError(
                f"run {run.run.number} could not be renewed for too long, and was ended"
            )
        return _ending(run, ended.cause, code, gone)


def has_terminal() -> bool:
    """Whether a terminal controls us: then the command shares it, with Ctrl-C and Ctrl-Z."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _let_it_tidy_up(run: ActiveRun, family: Family) -> None:
    deadline = time.monotonic() + _COURTESY_SECONDS
    while time.monotonic() < deadline and not run.alarm.hurried and family.members():
        time.sleep(0.02)


def _collected(pid: int, ended: Ended, gone: EndedProcesses) -> int:
    """The command's own code; children that we adopted are let go, too."""
    code = ended.code
    for process in gone.ended:
        if process.pid != pid:
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)
    with suppress(ChildProcessError):
        code = code if code is not None else collect(pid)
    return ExitCode.INTERRUPTED if code is None else code


def _not_started(run: ActiveRun, argv: tuple[str, ...], problem: OSError) -> Ending:
    absent = problem.errno in _NOT_FOUND
    code = ExitCode.COMMAND_NOT_FOUND if absent else ExitCode.NOT_EXECUTABLE
    what = "was not found" if absent else f"cannot be executed: {problem.strerror}"
    run.ws.notices.append(f"{argv[0]} {what}")
    return Ending(Cause.EXIT, code, started=False, details={"not_started": str(problem.strerror)})


def _ending(run: ActiveRun, cause: Cause, code: int, gone: EndedProcesses) -> Ending:
    details: dict[str, object] = {"cause": str(cause), "command_exit_code": code}
    if gone.ended and cause is Cause.EXIT:
        details["ended_processes"] = [str(process) for process in gone.ended]
        run.ws.notices.append(f"ended what the command left running: {named(gone.ended)}")
    problem = None
    if gone.left:
        problem = RefusedError(
            f"some processes of run {run.run.number} cannot be ended: {named(gone.left)}",
            hint="end them yourself; nothing was rolled back",
            details={"processes": [str(process) for process in gone.left]},
        )
    return Ending(cause, code, details=details, problem=problem)


_ABSENT = (errno.ENOENT, errno.ENOTDIR)


def supervise(command: Command, call: ToolCall, notices: list[str], *, adopt: bool) -> int:
    """Its exit code as a shell would say it; a signal that we get ends it: 130."""
    alarm = Alarm()
    try:
        with alarm.on_signals(), adopting_orphans(wanted=adopt) as adopting:
            child = launch(command, own_group=not has_terminal())
            # The call's own id: processes of a run around us are no part of the call.
            family = Family(call.operation, identity_of(child.pid), adopting=adopting)
            problem = child.release()
            if problem is not None:
                os.waitpid(child.pid, 0)
                return _tool_not_started(command, problem, notices)
            return _seen_through(child.pid, family, alarm, notices)
    finally:
        alarm.close()


def _seen_through(pid: int, family: Family, alarm: Alarm, notices: list[str]) -> int:
    ended = Ended(Cause.SIGNAL)
    try:
        ended = wait_for(pid, alarm, deadline=None)
    finally:
        gone = end_all(family.members, grace=Timing().grace, hurried=lambda: alarm.hurried)
        for process in gone.ended:
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)
    if gone.ended and ended.code is not None:
        notices.append(f"ended what the tool left running: {named(gone.ended)}")
    if gone.left:
        notices.append(f"some processes of the tool cannot be ended: {named(gone.left)}")
    return ExitCode.INTERRUPTED if ended.code is None else ended.code


def _tool_not_started(command: Command, problem: OSError, notices: list[str]) -> int:
    absent = problem.errno in _ABSENT
    what = "was not found" if absent else f"cannot be executed: {problem.strerror}"
    notices.append(f"{command.argv[0]} {what}")
    return ExitCode.COMMAND_NOT_FOUND if absent else ExitCode.NOT_EXECUTABLE
