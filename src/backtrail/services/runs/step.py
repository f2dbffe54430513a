"""Running a command as a step: what is done already is not done again.

A step that is ended from outside (a timeout, an abort) has no known end and stays pending; so does
one whose process dies. The end of one that ended by itself is recorded, whatever its code is.

A step that is reused touches nothing: it needs no run and no checkpoint, and takes none. Whether
it can be is decided while no run of the plan is live, after whatever a crash left was repaired.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.domain.errors import UsageError
from backtrail.domain.redaction import holds_redacted, redacted_words
from backtrail.domain.run import Cause, Ending
from backtrail.domain.step import (
    Outcome,
    Result,
    StepName,
    StepOptions,
    StepVerdict,
    check_key,
    command_digests,
)
from backtrail.processes.family import adopting_orphans
from backtrail.processes.tee import Tee
from backtrail.services.runs.supervise import Execution
from backtrail.services.session.enter import writing
from backtrail.services.session.guards import check_plan_allows_work
from backtrail.services.steps.digest_key import digest_key
from backtrail.services.steps.output import STDERR, STDOUT, KeptOutput, OutputShelf
from backtrail.services.steps.records import (
    Attempt,
    Judgement,
    StepRequest,
    judge,
    kept_outputs,
    ledger_now,
    record_completion,
    record_reuse,
    record_start,
)
from backtrail.services.steps.replay import replay
from backtrail.services.steps.service import ListedStep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrail.domain.plan import Plan
    from backtrail.domain.run import RunOutcome
    from backtrail.domain.step import StepEntry
    from backtrail.services.runs.active import ActiveRun
    from backtrail.services.runs.admission import RunOrder
    from backtrail.services.session.context import Workspace


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


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """A step that was asked for, and the run that it took, if it took one."""

    plan: Plan
    step: ListedStep | None
    """None if it is not on the timeline any more: a failed run was rolled back."""
    reused: bool
    exit_code: int
    run: RunOutcome | None


def step_request(
    ws: Workspace, order: RunOrder, step: StepOptions, environ: Mapping[str, str]
) -> StepRequest:
    """The step that an order means, with all that matters."""
    for name in step.variables:
        if not name or "=" in name or "\0" in name:
            raise UsageError(
                f"{name!r} is not the name of a variable",
                hint="--env takes a name alone; its value is what the environment says",
            )
    directory = _below(Path(os.path.realpath(ws.plan(order.plan_id).sandbox.path)), order.cwd)
    values = {name: environ.get(name) for name in step.variables}
    return StepRequest(
        name=StepName(check_key(step.key)),
        digests=command_digests(digest_key(ws.layout), order.argv, directory, values),
        command=redacted_words(order.argv),
        directory=directory,
        reuse_failed=step.reuse_failed,
    )


def _below(root: Path, place: str) -> str:
    relative = Path(place).relative_to(root)
    return "" if relative == Path() else str(relative)


def reusable(ws: Workspace, order: RunOrder, request: StepRequest) -> StepEntry | None:
    """The step if its result can be used again, which is then on record; else it must run."""
    with writing(ws, order.plan_id, wait=order.wait), ws.database.write() as uow:
        plan = uow.plans.lock(order.plan_id)
        check_plan_allows_work(plan)
        if uow.runs.live(plan.plan_id) is not None:
            return None
        judgement = judge(uow, plan, request, active=())
        if judgement.verdict is not StepVerdict.REUSE:
            return None
        record_reuse(uow, plan, judgement.held, ws.now())
        return ledger_now(uow, plan).named(request.name)


def reused_outcome(ws: Workspace, entry: StepEntry, streams: Mapping[int, int]) -> StepOutcome:
    """The record of a step, printed once more; nothing was run."""
    code = replay(ws, entry, streams)
    step = ListedStep(entry, entry.status(()))
    return StepOutcome(ws.plan(entry.step.plan_id), step, reused=True, exit_code=code, run=None)


def run_outcome(ws: Workspace, request: StepRequest, outcome: RunOutcome) -> StepOutcome:
    """The step after its run, if the run left it on the timeline."""
    with ws.database.read() as uow:
        entry = ledger_now(uow, outcome.plan).named(request.name)
    step = ListedStep(entry, entry.status(())) if entry else None
    return StepOutcome(outcome.plan, step, reused=False, exit_code=outcome.exit_code, run=outcome)
