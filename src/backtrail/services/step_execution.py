"""Executing a command as a step: its start is on record before it begins, its end before success.

A step that is ended from outside (a timeout, an abort) has no known end and stays pending; so does
one whose process dies. The end of one that ended by itself is recorded, whatever its code is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.redaction import holds_redacted
from backtrail.domain.run import Cause
from backtrail.domain.run_verdict import Ending
from backtrail.domain.step import Outcome, Result, StepOptions
from backtrail.domain.steps import StepVerdict
from backtrail.processes.family import adopting_orphans
from backtrail.processes.tee import Tee
from backtrail.services.run_command import Execution
from backtrail.services.step_outputs import STDERR, STDOUT, KeptOutput, OutputShelf
from backtrail.services.step_records import (
    Attempt,
    Judgement,
    StepRequest,
    judge,
    kept_outputs,
    record_completion,
    record_reuse,
    record_start,
)
from backtrail.services.step_replay import replay

if TYPE_CHECKING:
    from backtrail.services.active_run import ActiveRun


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExecution(Execution):
    """A command that is a step."""

    request: StepRequest
    step: StepOptions

    def perform(self, run: ActiveRun) -> Ending:
        """The step's command, or what reconciles it; both are recorded."""
        judgement, attempt = self._begin(run)
        if attempt is None:
            return self._reused(run, judgement)
        run.ws.failpoints.reach("step.started")
        with adopting_orphans(wanted=self.adopt) as adopting:
            own = replace(self, adopt=self.adopt and adopting)
            return own.run_step(run, attempt, own.argv_for(run, judgement))

    def _begin(self, run: ActiveRun) -> tuple[Judgement, Attempt | None]:
        ws = run.ws
        with ws.database.write() as uow:
            plan = uow.plans.lock(run.run.plan_id)
            judgement = judge(uow, plan, self.request, active=(run.run.run_id,))
            if judgement.verdict is StepVerdict.REUSE:
                record_reuse(uow, plan, judgement.held, ws.now())
                return judgement, None
            attempt = record_start(uow, plan, self.request, judgement, run.run.run_id, ws.now())
            kept = kept_outputs(uow, plan)
        # Nothing else of this plan runs, so that what no completion keeps was left by a crash.
        self._shelf(run).sweep(kept)
        return judgement, attempt

    def argv_for(self, run: ActiveRun, judgement: Judgement) -> tuple[str, ...]:
        key, said = self.step.key, run.ws.notices
        if judgement.verdict is StepVerdict.CHANGED:
            said.append(_about_change(self.request, judgement))
        if judgement.verdict is not StepVerdict.INTERRUPTED:
            return run.order.argv
        if self.step.reconcile is None:
            said.append(f"step {key!r} was started before and its end is not known: it runs again")
            return run.order.argv
        said.append(f"step {key!r} was started before and its end is not known: it is reconciled")
        return ("/bin/sh", "-c", self.step.reconcile)

    def run_step(self, run: ActiveRun, attempt: Attempt, argv: tuple[str, ...]) -> Ending:
        ending, kept = self._recorded(run, attempt, argv)
        run.ws.failpoints.reach("step.ended")
        if not _succeeded(ending) or run.order.options.verify is None:
            self._complete(run, attempt, ending, kept)
            return self.after_success(run, ending) if _succeeded(ending) else ending
        # Whether it succeeded is known only after the check, and the checkpoint comes before that.
        with run.ws.database.write() as uow:
            position = uow.plans.next_position(run.run.plan_id)
        checked = self.after_success(run, ending)
        self._complete(run, attempt, checked, kept, position)
        return checked

    def _recorded(
        self, run: ActiveRun, attempt: Attempt, argv: tuple[str, ...]
    ) -> tuple[Ending, KeptOutput]:
        """The command, with a copy of what it prints."""
        writer = self._shelf(run).writer(attempt.start.mark_id)
        targets = {stream: self.streams.get(stream, stream) for stream in (STDOUT, STDERR)}
        with Tee(targets, writer.write) as tee:
            own = replace(self, streams=tee.streams)
            ending = own.execute(run, argv, limit=run.order.options.timeout)
        kept = writer.close()
        if kept.problem is not None:
            run.ws.notices.append(
                f"the output of step {self.step.key!r} could not be kept: {kept.problem}"
            )
        return ending, kept

    def _complete(
        self,
        run: ActiveRun,
        attempt: Attempt,
        ending: Ending,
        kept: KeptOutput,
        position: int | None = None,
    ) -> None:
        """Record the end, if the command came to one; else the step stays pending."""
        ws, post = run.ws, run.post_checkpoint
        if ending.cause is not Cause.EXIT or ending.problem is not None:
            return
        outcome = Outcome.SUCCEEDED if ending.exit_code == 0 else Outcome.FAILED
        result = Result(outcome, ending.exit_code, output=kept.state, output_bytes=kept.size)
        with ws.database.write() as uow:
            plan = uow.plans.lock(run.run.plan_id)
            record_completion(uow, plan, attempt, result, ws.now(), position=position)
            if post is not None and result.succeeded:
                uow.checkpoints.set_last_step(post.checkpoint_id, self.step.key)
        ws.failpoints.reach("step.completed")

    def _reused(self, run: ActiveRun, judgement: Judgement) -> Ending:
        """Another run completed the step just before this one was admitted."""
        code = replay(run.ws, judgement.held, self.streams)
        return Ending(Cause.EXIT, code, started=False)

    def _shelf(self, run: ActiveRun) -> OutputShelf:
        return OutputShelf.of(run.ws.layout.home, run.run.plan_id)


def as_step(execution: Execution, request: StepRequest, step: StepOptions) -> StepExecution:
    """The same surroundings, for a command that is a step."""
    return StepExecution(
        environ=execution.environ,
        streams=execution.streams,
        adopt=execution.adopt,
        before_start=execution.before_start,
        request=request,
        step=step,
    )


def _succeeded(ending: Ending) -> bool:
    return ending.cause is Cause.EXIT and ending.exit_code == 0 and ending.problem is None


def _about_change(request: StepRequest, judgement: Judgement) -> str:
    """What differs from the step as it was recorded, and what goes with it."""
    was = judgement.held.step
    if was.command != request.command:
        what = "another command"
    elif was.directory != request.directory:
        what = "another directory"
    elif holds_redacted(request.command):
        what = "another secret, or another value of a variable"
    else:
        what = "another value of a variable"
    later = judgement.dropped - 1
    steps = (
        ""
        if later == 0
        else f", and so is {later} later step"
        if later == 1
        else f", and so are {later} later steps"
    )
    return (
        f"step {request.name.key!r} was recorded with {what}: it is dropped{steps}, and runs anew"
    )
