"""Letting a run begin: one of a plan at a time; an earlier one is waited for to its very end."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from backtrail.domain.errors import BusyError, FailedError, RefusedError
from backtrail.domain.ids import RunId
from backtrail.domain.redaction import redacted_words
from backtrail.domain.run import ABORTABLE, AbortAction, IfRunning, Run, RunOptions, RunStatus
from backtrail.processes.table import identity_of
from backtrail.services.lease import Timing, is_held, new_lease
from backtrail.services.session.context import DEFAULT_WAIT, new_id
from backtrail.services.session.enter import writing
from backtrail.services.session.guards import check_plan_allows_work

if TYPE_CHECKING:
    from backtrail.domain.ids import PlanId
    from backtrail.domain.plan import Plan
    from backtrail.services.session.context import LockedSandbox, Workspace
    from backtrail.storage.database import UnitOfWork


_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class RunOrder:
    """A run that somebody wants; without a command it is a block of Python code.

    The run as it is recorded has the same words, but for the secrets among them.
    """

    plan: Plan
    """As it was when the run was asked for."""
    argv: tuple[str, ...]
    root: str
    """The real path of the sandbox, which `cwd` is or lies below."""
    cwd: str
    options: RunOptions = field(default_factory=RunOptions)
    if_running: IfRunning = IfRunning.REJECT
    wait: float = DEFAULT_WAIT
    """How many seconds to wait for a sandbox that another command has locked."""
    timing: Timing = field(default_factory=Timing)

    @property
    def plan_id(self) -> PlanId:
        return self.plan.plan_id


class Admitted(NamedTuple):
    """A run that may begin, and its plan at that moment."""

    plan: Plan
    run: Run
    locked: LockedSandbox | None = None
    """The sandbox, if it was entered to decide that."""


def admit(ws: Workspace, order: RunOrder) -> Admitted:
    """The new run, once no other of the plan is live."""
    while True:
        with ws.database.write() as uow:
            plan = uow.plans.lock(order.plan_id)
            check_plan_allows_work(plan)
            other = uow.runs.live(order.plan_id)
            if other is None:
                return Admitted(plan, add_run(ws, uow, order))
        _make_way(ws, other, order)


def add_run(ws: Workspace, uow: UnitOfWork, order: RunOrder) -> Run:
    """The new run of a locked plan that has no other."""
    run = Run(
        run_id=RunId(new_id(uow.runs.newest_id(order.plan_id))),
        plan_id=order.plan_id,
        number=uow.runs.next_number(order.plan_id),
        status=RunStatus.PENDING,
        fence=uow.runs.next_fence(order.plan_id),
        host_id=ws.host_id,
        host=ws.actor.host,
        actor=ws.actor.name,
        holder=identity_of(os.getpid()),
        command=None,
        lease=new_lease(ws, order.timing),
        argv=redacted_words(order.argv),
        cwd=order.cwd,
        options=order.options.redacted(),
        position=None,
        epoch=None,
        decision_id=None,
        pre_checkpoint_id=None,
        post_checkpoint_id=None,
        abort_action=None,
        exit_code=None,
        created_at=ws.now(),
        started_at=None,
        ended_at=None,
    )
    uow.runs.add(run)
    return run


def _make_way(ws: Workspace, other: Run, order: RunOrder) -> None:
    """Come back when the other run is over, or raise because it is not to be disturbed."""
    if not is_held(ws, other):
        settle(ws, other, wait=order.wait)
        return
    if order.if_running is IfRunning.REJECT:
        doing = "finishing" if other.status is RunStatus.FINALIZING else "active"
        raise BusyError(
            f"run {other.number} of this plan is {doing}",
            hint="wait for it, or replace it with --if-running interrupt or rollback",
        )
    wanted = AbortAction(order.if_running)
    asked = request_abort(ws, other, wanted)
    ended = wait_until_over(ws, other)
    if asked and wanted is AbortAction.ROLLBACK and ended.status is not RunStatus.ROLLED_BACK:
        raise FailedError(
            f"run {other.number} was ended, but not rolled back: it is {ended.status}",
            hint=f"plan runs show {other.number} tells why",
        )


def settle(ws: Workspace, run: Run, *, wait: float) -> None:
    """Close a run whose holder is gone or does not answer."""
    with writing(ws, run.plan_id, wait=wait, expired_too=True), ws.database.read() as uow:
        now = uow.runs.get(run.run_id)
    if now is not None and now.live and now.fence != run.fence:
        raise RefusedError(
            f"run {run.number} crashed, and its processes cannot all be ended",
            hint="end them yourself; the message above names them",
        )


def end_live_run(ws: Workspace, plan_id: PlanId) -> None:
    """End whatever runs in a plan, for a rollback that goes elsewhere anyway."""
    with ws.database.read() as uow:
        live = uow.runs.live(plan_id)
    if live is not None:
        request_abort(ws, live, AbortAction.INTERRUPT)
        ended = wait_until_over(ws, live)
        ws.notices.append(f"run {live.number} was ended: {ended.status}")


def request_abort(ws: Workspace, run: Run, action: AbortAction | None) -> bool:
    """Record the wish that a run ends; False if it is past that. The first wish counts."""
    with ws.database.write() as uow:
        now = uow.runs.get(run.run_id)
        if now is None or now.status not in ABORTABLE:
            return False
        if now.abort_action is None:
            uow.runs.update(run.run_id, abort_action=action or now.options.on_abort)
        return True


def wait_until_over(ws: Workspace, run: Run) -> Run:
    """The run once it has ended; one whose holder dies meanwhile is closed here."""
    while True:
        with ws.database.read() as uow:
            now = uow.runs.get(run.run_id) or run
        if not now.live:
            return now
        if not is_held(ws, now):
            settle(ws, now, wait=DEFAULT_WAIT)
        time.sleep(_POLL_SECONDS)
