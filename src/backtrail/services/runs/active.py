"""A run of ours while it is live: its protection, its marks, and what it notices."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrail.domain.checkpoint import Checkpoint, CheckpointRequest, CheckpointType
from backtrail.domain.errors import (
    BacktrailError,
    LeaseLostError,
    RunAbortedError,
    SandboxInvalidError,
)
from backtrail.domain.run import Cause, Run, RunStatus
from backtrail.processes.alarm import Alarm
from backtrail.processes.family import RUN_VARIABLE
from backtrail.services.lease import Heartbeat, Timing, fenced
from backtrail.services.references import current_decision
from backtrail.services.runs.admission import RunOrder, admit
from backtrail.services.session.enter import writing
from backtrail.services.snapshot.reuse import automatic_checkpoint
from backtrail.services.steps.functions import StepCalls

if TYPE_CHECKING:
    from backtrail.services.session.context import Workspace


_SHOWN = 60


@dataclass(slots=True)
class ActiveRun:
    """What the holder of a live run knows and may do."""

    ws: Workspace
    """Fenced: it writes only as long as the run is ours."""
    order: RunOrder
    run: Run
    alarm: Alarm
    timing: Timing
    pre_checkpoint: Checkpoint | None = None
    post_checkpoint: Checkpoint | None = None
    calls: StepCalls | None = None

    @property
    def environment(self) -> Mapping[str, str]:
        """What every process of the run is to find in its environment."""
        sandbox = self.ws.plan(self.run.plan_id).sandbox
        return {
            "PLAN_ID": self.run.plan_id,
            RUN_VARIABLE: self.run.run_id,
            "PLAN_SANDBOX": str(sandbox.path),
        }

    def check(self) -> None:
        """Raise if somebody wants this run to end, or it is not ours any more."""
        if self.alarm.cause is Cause.LOST:
            self.ws.database.check()
            raise LeaseLostError(f"run {self.run.number} lost its lease")
        if self.alarm.cause is not None:
            raise RunAbortedError(f"somebody asked for the end of run {self.run.number}")

    def step(
        self,
        key: str,
        function: Callable[..., Any],
        *arguments: Any,  # noqa: ANN401 - whatever the function takes
        reuse_failed: bool = False,
        reconcile: Callable[[], Any] | None = None,
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """What a function returns, computed now or by an earlier run that recorded it."""
        self.check()
        if self.calls is None:
            self.calls = StepCalls(self.ws, self.run.plan_id, self.run.run_id)
        return self.calls.call(
            key, function, arguments, reuse_failed=reuse_failed, reconcile=reconcile
        )

    def protect(self) -> None:
        """The pre-run checkpoint; if it cannot be made, and need not be, that is said."""
        try:
            self.pre_checkpoint = self._capture(CheckpointType.PRE_RUN)
        except (LeaseLostError, RunAbortedError, SandboxInvalidError):
            # There is nothing to go on with, or nowhere.
            raise
        except (BacktrailError, OSError) as error:
            if not self.order.options.allow_unprotected:
                raise
            why = error.message if isinstance(error, BacktrailError) else error
            self.ws.notices.append(f"this run is not protected: {why}")
            return
        with self.ws.database.write() as uow:
            self.run = uow.runs.update(
                self.run.run_id, pre_checkpoint_id=self.pre_checkpoint.checkpoint_id
            )
        self.ws.failpoints.reach("run.protected")

    def mark_started(self, command: str | None) -> None:
        """Written down before the command can do anything; a check belongs to the same start."""
        with self.ws.database.write() as uow:
            plan = uow.plans.lock(self.run.plan_id)
            if self.run.started_at is None:
                self.run = uow.runs.update(
                    self.run.run_id,
                    status=RunStatus.RUNNING,
                    command=command,
                    started_at=self.ws.now(),
                    position=uow.plans.next_position(plan.plan_id),
                    epoch=plan.current_epoch,
                    decision_id=current_decision(uow, plan),
                )
            else:
                self.run = uow.runs.update(self.run.run_id, command=command)
        self.ws.failpoints.reach("run.marked")

    def save_after(self) -> Checkpoint:
        """The checkpoint of what the command left."""
        self.post_checkpoint = self._capture(CheckpointType.POST_RUN)
        with self.ws.database.write() as uow:
            self.run = uow.runs.update(
                self.run.run_id, post_checkpoint_id=self.post_checkpoint.checkpoint_id
            )
        self.ws.failpoints.reach("run.saved_after")
        return self.post_checkpoint

    def _capture(self, kind: CheckpointType) -> Checkpoint:
        when = "before" if kind is CheckpointType.PRE_RUN else "after"
        words = " ".join(self.run.argv) or "Python code"
        shown = words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
        request = CheckpointRequest(
            reason=f"{when} run {self.run.number}: {shown}",
            checkpoint_type=kind,
            meta={"run_id": self.run.run_id},
        )
        with writing(self.ws, self.run.plan_id, wait=self.order.wait) as locked:
            return automatic_checkpoint(locked, request).checkpoint


@contextmanager
def live_run(
    ws: Workspace, order: RunOrder, timing: Timing, *, signals: bool
) -> Generator[ActiveRun]:
    """An admitted run whose lease is renewed; with `signals`, they end it instead of us."""
    alarm = Alarm()
    try:
        run = admit(ws, order, timing)
        own = fenced(ws, run)
        ws.failpoints.reach("run.admitted")
        with Heartbeat(own, run, alarm, timing):
            if signals:
                with alarm.on_signals():
                    yield ActiveRun(own, order, run, alarm, timing)
            else:
                yield ActiveRun(own, order, run, alarm, timing)
    finally:
        alarm.close()
