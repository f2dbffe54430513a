"""Running a command as a step: what is done already is not done again.

A step that is ended from outside (a timeout, an abort) has no known end and stays pending; so does
one whose process dies. The end of one that ended by itself is recorded, whatever its code is.

A step that is reused touches nothing: it needs no run and no checkpoint, and takes none. Whether
it can be is decided while no run of the plan is live, after whatever a crash left was repaired.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from backtrail.domain.errors import ExitCode, UsageError
from backtrail.domain.ledger import StepEntry, StepVerdict
from backtrail.domain.redaction import holds_redacted, redacted_words
from backtrail.domain.run import Cause, Ending
from backtrail.domain.step import (
    Outcome,
    OutputState,
    Result,
    StepName,
    StepOptions,
    check_key,
    command_digests,
)
from backtrail.processes.tee import Tee, write_all
from backtrail.services.runs.admission import Admitted, RunOrder, add_run
from backtrail.services.runs.supervise import Execution
from backtrail.services.session.guards import check_plan_allows_work
from backtrail.services.steps.digest_key import digest_key
from backtrail.services.steps.output import STDERR, STDOUT, KeptOutput, RecordedOutput
from backtrail.services.steps.records import (
    Judgement,
    StepRecords,
    StepRequest,
    end_not_known,
    ledger_now,
    recording_steps,
)
from backtrail.services.steps.service import ListedStep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrail.domain.plan import Plan
    from backtrail.domain.run import RunOutcome
    from backtrail.domain.step import Mark
    from backtrail.services.runs.active import ActiveRun
    from backtrail.services.session.context import LockedSandbox, Workspace


_NOT_THERE = {
    OutputState.PRUNED: "output pruned",
    OutputState.LOST: "its output could not be kept",
}


@dataclass(frozen=True, slots=True)
class StepExecution:
    """A command that is a step."""

    plain: Execution
    request: StepRequest
    step: StepOptions

    def perform(self, run: ActiveRun) -> Ending:
        """The step's command, or what reconciles it; both are recorded."""
        judgement = self._begin(run)
        if judgement.start is None:
            # Another run completed the step just before this one was admitted.
            code = _replay(run.ws, judgement.held, self.plain.streams)
            return Ending(Cause.EXIT, code, started=False)
        run.ws.failpoints.reach("step.started")
        with self.plain.adopting() as plain:
            attempt = _Attempt(run, plain, self.step.key, judgement.start)
            return attempt.perform(self._argv_for(run, judgement))

    def _begin(self, run: ActiveRun) -> Judgement:
        recorded = RecordedOutput.of(run.ws.layout.home, run.run.plan_id)
        with recording_steps(run.ws, run.run.plan_id) as steps:
            judgement = steps.begin(self.request, run.run.run_id)
            in_use = recorded.directory.exists() and judgement.start is not None
            kept = steps.kept_outputs() if in_use else None
        if kept is not None:
            # Nothing else of this plan runs: what no completion keeps was left by a crash.
            recorded.sweep(kept)
        return judgement

    def _argv_for(self, run: ActiveRun, judgement: Judgement) -> tuple[str, ...]:
        said = run.ws.notices
        if judgement.verdict is StepVerdict.CHANGED:
            said.append(_about_change(self.request, judgement))
        if judgement.verdict is not StepVerdict.INTERRUPTED:
            return run.order.argv
        reconcile = self.step.reconcile
        said.append(end_not_known(self.step.key, reconciled=reconcile is not None))
        return run.order.argv if reconcile is None else ("/bin/sh", "-c", reconcile)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One attempt at a step in a run."""

    run: ActiveRun
    plain: Execution
    key: str
    start: Mark

    def perform(self, argv: tuple[str, ...]) -> Ending:
        """The command, the check that was asked for, and the record of both."""
        run = self.run
        ending, kept = self._copied(argv)
        run.ws.failpoints.reach("step.ended")
        if not ending.succeeded or run.order.options.verify is None:
            self._complete(ending, kept)
            return self.plain.after_success(run, ending) if ending.succeeded else ending
        # Whether it succeeded is known only after the check, and the checkpoint comes before that.
        with run.ws.database.write() as uow:
            position = uow.plans.next_position(run.run.plan_id)
        checked = self.plain.after_success(run, ending)
        self._complete(checked, kept, position)
        return checked

    def _copied(self, argv: tuple[str, ...]) -> tuple[Ending, KeptOutput]:
        """The command, with a copy of what it prints."""
        ws = self.run.ws
        recorded = RecordedOutput.of(ws.layout.home, self.run.run.plan_id)
        writer = recorded.writer(self.start.mark_id)
        targets = {stream: self.plain.streams.get(stream, stream) for stream in (STDOUT, STDERR)}
        with Tee(targets, writer.write) as tee:
            ending = replace(self.plain, streams=tee.streams).execute(self.run, argv)
        kept = writer.close()
        if kept.problem is not None:
            ws.notices.append(f"the output of step {self.key!r} could not be kept: {kept.problem}")
        return ending, kept

    def _complete(self, ending: Ending, kept: KeptOutput, position: int | None = None) -> None:
        """Record the end, if the command came to one; else the step stays pending."""
        ws, post = self.run.ws, self.run.post_checkpoint
        if ending.cause is not Cause.EXIT or ending.problem is not None:
            return
        outcome = Outcome.SUCCEEDED if ending.exit_code == 0 else Outcome.FAILED
        result = Result(outcome, ending.exit_code, output=kept.state, output_bytes=kept.size)
        with recording_steps(ws, self.run.run.plan_id) as steps:
            steps.complete(self.key, self.start, result, position)
            if post is not None and result.succeeded:
                steps.uow.checkpoints.set_last_step(post.checkpoint_id, self.key)
        ws.failpoints.reach("step.completed")


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
    relative = Path(order.cwd).relative_to(order.root)
    directory = "" if relative == Path() else str(relative)
    values = {name: environ.get(name) for name in step.variables}
    return StepRequest(
        name=StepName(check_key(step.key)),
        digests=command_digests(digest_key(ws.layout), order.argv, directory, values),
        command=redacted_words(order.argv),
        directory=directory,
        reuse_failed=step.reuse_failed,
    )


class Reused(NamedTuple):
    """A step whose result is used again, which is on record, and its plan."""

    plan: Plan
    entry: StepEntry


def reuse_or_admit(
    locked: LockedSandbox, order: RunOrder, request: StepRequest
) -> Reused | Admitted | None:
    """The step if its result can be used again, else the run that it takes.

    None if another run of the plan is in the way.
    """
    ws = locked.workspace
    with ws.database.write() as uow:
        plan = uow.plans.lock(order.plan_id)
        check_plan_allows_work(plan)
        if uow.runs.live(plan.plan_id) is not None:
            return None
        judgement = StepRecords(ws, uow, plan).reuse_if_done(request)
        if judgement.verdict is not StepVerdict.REUSE:
            return Admitted(plan, add_run(ws, uow, order), locked)
        entry = replace(judgement.held, reuses=judgement.held.reuses + 1)
        return Reused(uow.plans.get(plan.plan_id), entry)


def reused_outcome(ws: Workspace, found: Reused, streams: Mapping[int, int]) -> StepOutcome:
    """The record of a step, printed once more; nothing was run."""
    code = _replay(ws, found.entry, streams)
    step = ListedStep(found.entry, found.entry.status(()))
    return StepOutcome(found.plan, step, reused=True, exit_code=code, run=None)


def _replay(ws: Workspace, entry: StepEntry, streams: Mapping[int, int]) -> int:
    """Print what a step printed, where it printed it; the exit code that it had."""
    done, key = entry.completion, entry.step.name.key
    if done is None or done.result is None:
        raise AssertionError
    state = _printed(ws, entry, done, streams) if done.keeps_output else done.result.output
    if state in _NOT_THERE:
        ws.notices.append(f"step {key!r}: {_NOT_THERE[state]}")
    ws.notices.append(f"step {key!r} is reused: it {done.result.outcome} before")
    return ExitCode.FAILED if done.result.exit_code is None else done.result.exit_code


def _printed(
    ws: Workspace, entry: StepEntry, done: Mark, streams: Mapping[int, int]
) -> OutputState:
    def write(stream: int, piece: bytes) -> None:
        write_all(streams.get(stream, stream), piece)

    recorded = RecordedOutput.of(ws.layout.home, entry.step.plan_id)
    # Who has seen enough of it closes the pipe, and gets the code all the same.
    with suppress(BrokenPipeError):
        if done.attempt_id is None or not recorded.replay(done.attempt_id, write):
            return OutputState.LOST
    return OutputState.KEPT


def run_outcome(ws: Workspace, request: StepRequest, outcome: RunOutcome) -> StepOutcome:
    """The step after its run, if the run left it on the timeline."""
    with ws.database.read() as uow:
        entry = ledger_now(uow, outcome.plan).named(request.name)
    step = ListedStep(entry, entry.status(())) if entry else None
    return StepOutcome(outcome.plan, step, reused=False, exit_code=outcome.exit_code, run=outcome)
