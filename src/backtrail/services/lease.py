"""The right to write about a run: a lease that is renewed, and a number that fences off the late.

Whoever takes a run over gives it a greater number, and every transaction of the earlier holder
then fails. The lease only says when a run may be taken over.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from backtrail.domain.errors import BacktrailError, LeaseLostError
from backtrail.domain.run import Cause, Lease
from backtrail.processes.table import alive, same_boot

if TYPE_CHECKING:
    from backtrail.domain.run import Run
    from backtrail.processes.alarm import Alarm
    from backtrail.services.session.context import Workspace
    from backtrail.storage.database import UnitOfWork


@dataclass(frozen=True, slots=True)
class Timing:
    """All in seconds."""

    lease: float = 15.0
    renew: float = 3.0
    look: float = 0.25
    """How often to look whether somebody wants the run to end."""
    grace: float = 5.0
    """How long a process may take to end when asked to, before it is forced to."""


def is_held(ws: Workspace, run: Run) -> bool:
    """Whether its holder exists and was heard of within the lease.

    A holder on another host, or of another boot, is judged by the lease alone.
    """
    if not same_boot(run.holder):
        return ws.now() < run.lease.until
    return alive(run.holder) and time.monotonic() < run.lease.clock


def may_be_taken_over(ws: Workspace, run: Run, *, expired_too: bool) -> bool:
    """Whether its holder is gone, or with `expired_too` exists and does not answer."""
    if is_held(ws, run):
        return False
    return expired_too or not (same_boot(run.holder) and alive(run.holder))


def new_lease(ws: Workspace, timing: Timing) -> Lease:
    return Lease(ws.now() + timedelta(seconds=timing.lease), time.monotonic() + timing.lease)


def fenced(ws: Workspace, run: Run) -> Workspace:
    """The workspace of the holder of a run: it writes only as long as the run is its own."""

    def check(uow: UnitOfWork) -> None:
        _held(uow, run)

    return replace(ws, database=ws.database.fenced(check), run_id=run.run_id)


def _held(uow: UnitOfWork, run: Run) -> Run:
    """The run as it is now, if nobody has taken it over."""
    now = uow.runs.get(run.run_id)
    if now is None or now.fence != run.fence or not now.live:
        raise LeaseLostError(
            f"run {run.number} was taken over by another process; nothing more was written",
            hint=f"plan runs show {run.number} tells what became of it",
        )
    return now


class Heartbeat:
    """Renews the lease of a run beside whatever else goes on, and hears who wants its end."""

    def __init__(self, ws: Workspace, run: Run, alarm: Alarm, timing: Timing) -> None:
        self._ws, self._run, self._alarm, self._timing = ws, run, alarm, timing
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _beat(self) -> None:
        renewed = time.monotonic()
        while not self._stopped.wait(self._timing.look):
            try:
                if time.monotonic() - renewed >= self._timing.renew:
                    self._renew()
                    renewed = time.monotonic()
                self._hear()
            except LeaseLostError:
                self._alarm.ring(Cause.LOST)
                return
            except BacktrailError:
                # The rows cannot be reached: others may take the run over when the lease is over.
                if time.monotonic() - renewed >= self._timing.lease:
                    self._alarm.ring(Cause.LOST)
                    return

    def _renew(self) -> None:
        with self._ws.database.write() as uow:
            uow.runs.update(self._run.run_id, lease=new_lease(self._ws, self._timing))

    def _hear(self) -> None:
        with self._ws.database.read() as uow:
            now = _held(uow, self._run)
        if now.abort_action is not None:
            self._alarm.ring(Cause.REQUEST)
