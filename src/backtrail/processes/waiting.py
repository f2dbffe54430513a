"""Waiting for a command: until it ends by itself, its time is up, or somebody wants its end."""

from __future__ import annotations

import os
import selectors
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.run import Cause

if TYPE_CHECKING:
    from backtrail.processes.alarm import Alarm

_LOOK_SECONDS = 0.05
"""How often to look where the kernel cannot tell that a process has ended."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Why waiting came to its end; the code only if the command ended by itself."""

    cause: Cause
    code: int | None = None


def wait_for(pid: int, alarm: Alarm, *, deadline: float | None) -> Ended:
    """Wait for a child of ours; who ends it otherwise than by itself is told, and it runs on."""
    with ExitStack() as stack:
        looking = stack.enter_context(selectors.DefaultSelector())
        looking.register(alarm, selectors.EVENT_READ)
        told = _told_of_its_end(pid, looking, stack)
        while True:
            if alarm.cause is not None:
                return Ended(alarm.cause)
            code = collect(pid)
            if code is not None:
                return Ended(Cause.EXIT, code)
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return Ended(Cause.TIMEOUT)
            pauses = [p for p in (left, None if told else _LOOK_SECONDS) if p is not None]
            looking.select(min(pauses, default=None))
            alarm.heard()


def _told_of_its_end(pid: int, looking: selectors.BaseSelector, stack: ExitStack) -> bool:
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        return False
    stack.callback(os.close, descriptor)
    looking.register(descriptor, selectors.EVENT_READ)
    return True


def collect(pid: int) -> int | None:
    """How a child ended, as a shell would say it; None while it runs."""
    found, status = os.waitpid(pid, os.WNOHANG)
    if found == 0:
        return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
