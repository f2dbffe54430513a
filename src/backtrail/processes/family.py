"""All that came of a run's command, wherever it hides.

Descendants are found by their parents; one that made itself independent is either adopted by the
process that looks after the run (a sub-reaper), or still carries the run's id in its environment.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from backtrail.processes.identity import pid_of, same_boot
from backtrail.processes.table import Process, all_processes, carrying, descendants

RUN_VARIABLE = "PLAN_RUN_ID"
_SET_SUBREAPER, _GET_SUBREAPER = 36, 37


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
