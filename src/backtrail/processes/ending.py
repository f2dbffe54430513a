"""Ending processes for good: asked first, then forced, and looked for again until none is left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from backtrail.processes.table import Process, process_at

_PAUSE_SECONDS = 0.01
_PAUSE_SECONDS_MAX = 0.1
_FORCE_SECONDS = 5.0

Search = Callable[[], list[Process]]


@dataclass(frozen=True, slots=True)
class EndedProcesses:
    """Who was ended, and who could not be."""

    ended: tuple[Process, ...] = ()
    left: tuple[Process, ...] = ()


def end_all(
    search: Search, *, grace: float, hurried: Callable[[], bool] = lambda: False
) -> EndedProcesses:
    """End whatever the search finds, and what it finds after that."""
    met: dict[Process, None] = {}
    began = time.monotonic()
    pause = _PAUSE_SECONDS
    while found := search():
        forced = hurried() or time.monotonic() - began >= grace
        if time.monotonic() - began >= grace + _FORCE_SECONDS:
            break
        for process in found:
            if forced:
                send(process, signal.SIGKILL)
            elif process not in met:
                send(process, signal.SIGTERM)
                # One that was stopped would never see it.
                send(process, signal.SIGCONT)
            met[process] = None
        time.sleep(pause)
        pause = min(pause * 1.5, _PAUSE_SECONDS_MAX)
    left = tuple(found)
    return EndedProcesses(tuple(p for p in met if p not in left), left)


def send(process: Process, number: int) -> None:
    """Send a signal to that very process; whoever may have got its pid since is spared."""
    with suppress(ProcessLookupError, PermissionError):
        try:
            descriptor = os.pidfd_open(process.pid)
        except (AttributeError, OSError):
            _send_by_pid(process, number)
            return
        try:
            if _still(process):
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


def _send_by_pid(process: Process, number: int) -> None:
    if _still(process):
        os.kill(process.pid, number)


def _still(process: Process) -> bool:
    now = process_at(process.pid)
    return now is not None and now.began == process.began


def named(processes: Iterable[Process]) -> str:
    """`123 (make), 124 (sleep)`, for a sentence."""
    return ", ".join(map(str, processes))
