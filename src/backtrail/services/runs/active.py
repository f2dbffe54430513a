"""A run of ours while it is live: from its protection to its verdict and its record."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from backtrail.domain.checkpoint import Checkpoint, CheckpointRequest, CheckpointType
from backtrail.domain.errors import (
    BacktrailError,
    ExitCode,
    LeaseLostError,
    RefusedError,
    RunAbortedError,
    SandboxInvalidError,
)
from backtrail.domain.operation import OperationKind
from backtrail.domain.redaction import redacted
from backtrail.domain.rollback import RollbackRequest
from backtrail.domain.run import Cause, Ending, Run, RunOutcome, RunStatus, Verdict, verdict
from backtrail.domain.wording import shortened
from backtrail.processes.alarm import Alarm
from backtrail.processes.family import RUN_VARIABLE
from backtrail.services.lease import Heartbeat, fenced
from backtrail.services.references import current_decision
from backtrail.services.rollback.execute import carry_out
from backtrail.services.rollback.order import rollback_order
from backtrail.services.runs.admission import Admitted, RunOrder, admit
from backtrail.services.session.enter import writing
from backtrail.services.session.journal import Entry, log_done
from backtrail.services.snapshot.reuse import automatic_checkpoint
from backtrail.services.steps.functions import HowToCall, StepCalls

if TYPE_CHECKING:
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback import RollbackResult
    from backtrail.services.session.context import LockedSandbox, Workspace


_PATIENCE_SECONDS = 300.0
"""How long the rollback of a run waits for whoever has the sandbox locked."""


@dataclass(slots=True)
class ActiveRun:
    """What the holder of a live run knows and may do."""

    ws: Workspace
    """Fenced: it writes only as long as the run is ours."""
    order: RunOrder
    plan: Plan
    run: Run
    alarm: Alarm
    pre_checkpoint: Checkpoint | None = None
    post_checkpoint: Checkpoint | None = None
    calls: StepCalls | None = None

    @property
    def environment(self) -> Mapping[str, str]:
        """What every process of the run is to find in its environment."""
        return {
            "PLAN_ID": self.run.plan_id,
            RUN_VARIABLE: self.run.run_id,
            "PLAN_SANDBOX": str(self.plan.sandbox.path),
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
        **how: Unpack[HowToCall],
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """What a function returns, computed now or by an earlier run that recorded it."""
        self.check()
        if self.calls is None:
            self.calls = StepCalls(self.ws, self.run.plan_id, self.run.run_id)
        return self.calls.call(key, function, arguments, **how)

    def protect(self, entered: LockedSandbox | None = None) -> None:
        """The pre-run checkpoint; if it cannot be made, and need not be, that is said.

        `entered`: the sandbox, if somebody holds its lock for us already.
        """
        try:
            self.pre_checkpoint = self._capture(CheckpointType.PRE_RUN, entered)
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

    def _capture(self, kind: CheckpointType, entered: LockedSandbox | None = None) -> Checkpoint:
        when = "before" if kind is CheckpointType.PRE_RUN else "after"
        words = " ".join(self.run.argv) or "Python code"
        request = CheckpointRequest(
            reason=f"{when} run {self.run.number}: {shortened(words)}",
            checkpoint_type=kind,
            meta={"run_id": self.run.run_id},
        )
        if entered is not None:
            return automatic_checkpoint(replace(entered, workspace=self.ws), request).checkpoint
        with writing(self.ws, self.plan, wait=self.order.wait) as locked:
            return automatic_checkpoint(locked, request).checkpoint

    @contextmanager
    def closed_in_any_case(self) -> Generator[None]:
        """Whatever prevents a verdict is recorded, so that the run stands in nobody's way."""
        try:
            yield
        except LeaseLostError:
            raise
        except BaseException as error:
            # If even that fails, recovery does it.
            with suppress(BacktrailError):
                self._close(RunStatus.ERROR, None, str(error) or type(error).__name__)
            raise

    def conclude(self, ending: Ending) -> RunOutcome:
        """Decide, do what is due, and only then say that the run is over."""
        decided = self._decide(ending)
        self.ws.failpoints.reach("run.finalizing")
        rollback, problem = None, ending.problem
        if decided.rollback:
            rollback, problem = self._roll_back(ending)
        elif decided.status is RunStatus.ERROR and problem is None and ending.started:
            problem = self._save_what_is_kept()
        status = RunStatus.ROLLED_BACK if rollback else decided.status
        self._close(status, rollback, problem.message if problem else None)
        self.ws.failpoints.reach("run.closed")
        return RunOutcome(
            plan=self.plan,
            run=self.run,
            exit_code=ExitCode.NOT_RUN if problem else decided.exit_code,
            pre_checkpoint=self.pre_checkpoint,
            post_checkpoint=self.post_checkpoint,
            rollback=rollback,
            problem=problem,
        )

    def _decide(self, ending: Ending) -> Verdict:
        """From here on nobody can abort the run: who did so before is heard in this transaction."""
        with self.ws.database.write() as uow:
            uow.plans.lock(self.run.plan_id)
            now = uow.runs.get(self.run.run_id) or self.run
            decided = verdict(ending, self.order.options, now.abort_action)
            post = self.post_checkpoint
            if decided.status is RunStatus.SUCCESS and self.order.options.verify and post:
                uow.checkpoints.set_green(post.checkpoint_id)
                self.post_checkpoint = replace(post, verified_green=True)
            self.run = uow.runs.update(
                self.run.run_id,
                status=RunStatus.FINALIZING,
                exit_code=ending.exit_code,
                result={
                    **ending.details,
                    "decided": str(decided.status),
                    "rollback": decided.rollback,
                    "operations": uow.operations.next_number(self.run.plan_id),
                },
                abort_action=decided.abort_action,
            )
        return decided

    def _roll_back(self, ending: Ending) -> tuple[RollbackResult | None, BacktrailError | None]:
        """The rollback, or why there is none."""
        if ending.problem is not None:
            return None, ending.problem
        if self.pre_checkpoint is None:
            return None, RefusedError(
                f"run {self.run.number} was not rolled back: it was not protected",
                hint="its files are as it left them",
            )
        try:
            with writing(self.ws, self.plan, wait=_PATIENCE_SECONDS) as locked:
                reason = f"run {self.run.number} did not succeed"
                order = rollback_order(self.pre_checkpoint, RollbackRequest(reason=reason))
                done = carry_out(locked, order)
        except LeaseLostError:
            raise
        except BacktrailError as error:
            error.message = f"run {self.run.number} was not rolled back: {error.message}"
            return None, error
        self.ws.failpoints.reach("run.rolled_back")
        return done, None

    def _save_what_is_kept(self) -> BacktrailError | None:
        if not self.order.options.wants_post_checkpoint or self.post_checkpoint is not None:
            return None
        try:
            self.save_after()
        except LeaseLostError:
            raise
        except BacktrailError as error:
            return error
        return None

    def _close(
        self, status: RunStatus, rollback: RollbackResult | None, problem: str | None
    ) -> None:
        result = dict(self.run.result)
        if rollback is not None:
            result["rollback_operation_id"] = rollback.operation_id
        if problem is not None:
            result["problem"] = redacted(problem)
        with self.ws.database.write() as uow:
            run = self.run = uow.runs.update(
                self.run.run_id, status=status, ended_at=self.ws.now(), result=result
            )
            self.plan = uow.plans.get(run.plan_id)
            entry = Entry(
                OperationKind.RUN, reason=f"run {run.number}", target=run.pre_checkpoint_id
            )
            outcome = {"run": run.run_id, "status": str(status), "exit_code": run.exit_code}
            log_done(self.ws, uow, self.plan, entry, run.post_checkpoint_id, outcome)


@contextmanager
def live_run(
    ws: Workspace, order: RunOrder, admitted: Admitted | None = None, *, signals: bool
) -> Generator[ActiveRun]:
    """A protected run whose lease is renewed; with `signals`, they end it instead of us."""
    alarm = Alarm()
    try:
        plan, run, locked = admitted or admit(ws, order)
        own = fenced(ws, run)
        ws.failpoints.reach("run.admitted")
        heartbeat = Heartbeat(own, run, alarm, order.timing)
        with heartbeat, alarm.on_signals() if signals else nullcontext():
            active = ActiveRun(own, order, plan, run, alarm)
            with active.closed_in_any_case():
                active.protect(locked)
            yield active
    finally:
        alarm.close()
