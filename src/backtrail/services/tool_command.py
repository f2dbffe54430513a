"""The command of a tool: started in the sandbox, and ended with all that came of it."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from backtrail.domain.errors import ExitCode
from backtrail.domain.run import Cause
from backtrail.processes.alarm import Alarm
from backtrail.processes.ending import end_all, named
from backtrail.processes.family import Family, adopting_orphans
from backtrail.processes.identity import identity_of
from backtrail.processes.launch import Command, launch
from backtrail.processes.waiting import Ended, wait_for
from backtrail.services.run_command import has_terminal
from backtrail.services.run_lease import Timing

if TYPE_CHECKING:
    from backtrail.domain.tools import ToolCall

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
                return _not_started(command, problem, notices)
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


def _not_started(command: Command, problem: OSError, notices: list[str]) -> int:
    absent = problem.errno in _ABSENT
    what = "was not found" if absent else f"cannot be executed: {problem.strerror}"
    notices.append(f"{command.argv[0]} {what}")
    return ExitCode.COMMAND_NOT_FOUND if absent else ExitCode.NOT_EXECUTABLE
