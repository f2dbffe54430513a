"""All that came of a run's command, wherever it hides, until none of it is left.

Descendants are found by their parents; one that made itself independent is either adopted by the
process that looks after the run (a sub-reaper), or still carries the run's id in its environment.
They are asked to end, then forced, and looked for again.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from backtrail.processes.table import (
    Process,
    all_processes,
    carrying,
    descendants,
    pid_of,
    process_at,
    same_boot,
)

RUN_VARIABLE = "PLAN_RUN_ID"
_SET_SUBREAPER, _GET_SUBREAPER = 36, 37
_PAUSE_SECONDS = 0.01
_PAUSE_SECONDS_MAX = 0.1
_FORCE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class EndedProcesses:
    """Who was ended, and who could not be."""

    ended: tuple[Process, ...] = ()
    left: tuple[Process, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """What belongs to one run."""

    run_id: str
    command: str | None
    """The command's process, if it was started."""
    adopting: bool = False
    """Whether every child of this process belongs to the run."""

    def members(self) -> list[Process]:
        """All that are alive, but this process."""
        table = all_processes()
        found = self._found(table) - {os.getpid()}
        return [table[pid] for pid in sorted(found) if not table[pid].zombie]

    def holds_this_process(self) -> bool:
        """Whether this process is itself a part of the run, which must not end itself."""
        return os.getpid() in self._found(all_processes())

    def end(self, *, grace: float, hurried: Callable[[], bool] = lambda: False) -> EndedProcesses:
        """End whoever belongs to it, and whoever is found to after that."""
        met: dict[Process, None] = {}
        began = time.monotonic()
        pause = _PAUSE_SECONDS
        while found := self.members():
            forced = hurried() or time.monotonic() - began >= grace
            if time.monotonic() - began >= grace + _FORCE_SECONDS:
                break
            for process in found:
                if forced:
                    _send(process, signal.SIGKILL)
                elif process not in met:
                    _send(process, signal.SIGTERM)
                    # One that was stopped would never see it.
                    _send(process, signal.SIGCONT)
                met[process] = None
            time.sleep(pause)
            pause = min(pause * 1.5, _PAUSE_SECONDS_MAX)
        left = tuple(found)
        return EndedProcesses(tuple(p for p in met if p not in left), left)

    def _found(self, table: dict[int, Process]) -> set[int]:
        roots = set(carrying(table, f"{RUN_VARIABLE}={self.run_id}"))
        leader = self._leader(table)
        if leader is not None:
            roots.add(leader.pid)
            roots.update(p.pid for p in table.values() if p.group == leader.pid)
        if self.adopting:
            roots.update(p.pid for p in table.values() if p.parent == os.getpid())
        return descendants(table, roots)

    def _leader(self, table: dict[int, Process]) -> Process | None:
        if self.command is None or not same_boot(self.command):
            return None
        found = table.get(pid_of(self.command))
        return found if found and found.began == self.command.split(" ")[1] else None


def _send(process: Process, number: int) -> None:
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


@contextmanager
def adopting_orphans(*, wanted: bool) -> Generator[bool]:
    """Be the parent of every descendant whose own parent ends; says whether that works here."""
    before = ctypes.c_int(0)
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if not wanted or prctl is None or prctl(_GET_SUBREAPER, ctypes.byref(before), 0, 0, 0):
        yield False
        return
    adopts = prctl(_SET_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        yield adopts
    finally:
        prctl(_SET_SUBREAPER, before.value, 0, 0, 0)
