"""RunService: commands and Python code under the protection of a checkpoint."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from backtrail.domain.errors import (
    BusyError,
    FailedError,
    LeaseLostError,
    RefusedError,
    RunAbortedError,
    UsageError,
)
from backtrail.domain.redaction import holds_redacted, redacted_words
from backtrail.domain.run import (
    AbortAction,
    Cause,
    IfRunning,
    Run,
    RunOptions,
    RunOutcome,
    RunStatus,
)
from backtrail.services.lease import Timing, is_held
from backtrail.services.references import find_run
from backtrail.services.runs.active import ActiveRun, live_run
from backtrail.services.runs.admission import (
    Admitted,
    RunOrder,
    request_abort,
    wait_until_over,
)
from backtrail.services.runs.step import (
    Reused,
    StepExecution,
    StepOutcome,
    reuse_or_admit,
    reused_outcome,
    run_outcome,
    step_request,
)
from backtrail.services.runs.supervise import Execution, end_block
from backtrail.services.session.context import DEFAULT_WAIT
from backtrail.services.session.enter import writing
from backtrail.services.steps.functions import HowToCall
from backtrail.services.steps.records import ledger_now

if TYPE_CHECKING:
    from backtrail.domain.ids import PlanId
    from backtrail.domain.plan import Plan, Sandbox
    from backtrail.services.session.context import Workspace
    from backtrail.storage.database import UnitOfWork


class HowToRun(TypedDict, total=False):
    """What may be said about a run besides its command and its options."""

    if_running: IfRunning
    cwd: str
    wait: float


def directory_in_sandbox(sandbox: Sandbox, wanted: str) -> tuple[str, str]:
    """The real paths of a sandbox and of a directory in it, named from its root."""
    root = Path(os.path.realpath(sandbox.path))
    place = Path(os.path.realpath(sandbox.path / wanted))
    if not place.is_relative_to(root):
        raise UsageError(
            f"the directory {wanted!r} is not inside the sandbox",
            hint=f"name one below {root}",
        )
    if place != root and not place.is_dir():
        raise UsageError(
            f"there is no directory {wanted!r} in the sandbox", hint=f"name one below {root}"
        )
    return str(root), str(place)


@dataclass(frozen=True, slots=True)
class Progress:
    """What of a crashed run was completed, and what is pending, in words and in order."""

    completed: tuple[str, ...]
    pending: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resumption:
    """A crashed run, how far it got, and what came of running it again."""

    plan: Plan
    run: Run
    progress: Progress
    outcome: RunOutcome | StepOutcome | None = None
    """None for a dry run."""


def resumable(ws: Workspace, plan_id: PlanId) -> Resumption:
    """The newest run, if it was interrupted: by a crash, a signal or `plan abort`."""
    with ws.database.read() as uow:
        plan, newest = uow.plans.get(plan_id), uow.runs.list(plan_id, 1)
        run = newest[0] if newest else None
        if run is not None and run.live and is_held(ws, run):
            raise BusyError(f"run {run.number} of this plan is active", hint="wait for it")
        if run is None or not (run.live or run.status is RunStatus.INTERRUPTED):
            how = f"run {run.number} ended with {run.status}" if run else "nothing was run"
            raise FailedError(
                f"there is nothing to resume: {how}", hint=f"plan runs {plan.name} shows all runs"
            )
        if not run.argv:
            raise RefusedError(
                f"run {run.number} was a block of Python code",
                hint="start the program again that ran it",
            )
        return Resumption(plan, run, progress_of(uow, plan, run))


def command_of(plan: Plan, run: Run, given: Sequence[str]) -> tuple[str, ...]:
    """The words of a run's command: as recorded or, if a secret was in them, as given again."""
    recorded, name = shlex.join(run.argv), plan.name
    if run.options.holds_redacted:
        raise RefusedError(
            f"run {run.number} had a secret in --verify or --reconcile, which is not kept",
            hint="plan run with the same options and the same command begins it anew",
        )
    if given and redacted_words(given) != run.argv:
        raise RefusedError(
            f"this is not the command of run {run.number}, which was: {recorded}",
            hint=f"plan run {name} -- COMMAND runs another one",
        )
    if not given and holds_redacted(run.argv):
        raise RefusedError(
            f"the command of run {run.number} had a secret in it, which is not kept: {recorded}",
            hint=f"give it again: plan resume {name} -- COMMAND",
        )
    return tuple(given) or run.argv


def progress_of(uow: UnitOfWork, plan: Plan, run: Run) -> Progress:
    """How far the plan and its crashed run got: steps first, then the run itself."""
    steps = ledger_now(uow, plan)
    before = uow.checkpoints.get(run.pre_checkpoint_id) if run.pre_checkpoint_id else None
    completed = [f"step {entry.step.name.key}" for entry in steps.succeeded]
    completed += [f"checkpoint {before.seq} before run {run.number}"] if before else []
    pending = [f"step {entry.step.name.key}" for entry in steps.pending]
    return Progress(tuple(completed), (*pending, f"run {run.number}: {shlex.join(run.argv)}"))


class RunService:
    """Runs of the plans of one repository."""

    def __init__(
        self, workspace: Workspace, environ: Mapping[str, str], timing: Timing | None = None
    ) -> None:
        self._workspace = workspace
        self._environ = environ
        self._timing = timing or Timing()
        self._blocks: list[ActiveRun] = []
        """The runs of Python code that we are inside of, the innermost last."""

    def execute(
        self,
        plan: PlanId | Plan,
        argv: Sequence[str],
        options: RunOptions | None = None,
        *,
        execution: Execution | None = None,
        **how: Unpack[HowToRun],
    ) -> RunOutcome:
        """Run a command in the sandbox; whatever becomes of it, it is over when this returns."""
        order = self._order(plan, _command(argv), options, how)
        with live_run(self._workspace, order, signals=True) as run:
            return _performed(run, execution or Execution(self._environ))

    def execute_step(
        self,
        plan: PlanId | Plan,
        argv: Sequence[str],
        options: RunOptions,
        *,
        execution: Execution | None = None,
        **how: Unpack[HowToRun],
    ) -> StepOutcome:
        """As `execute`, unless the step was done before: then its record is used again."""
        ws, step = self._workspace, options.step
        if step is None:
            raise UsageError("no step is named", hint="options.step says which one it is")
        order = self._order(plan, _command(argv), options, how)
        plain = execution or Execution(self._environ)
        request = step_request(ws, order, step, plain.environ)
        with ExitStack() as until_over:
            # The sandbox is entered once, to judge the step and to protect the run that it takes.
            with writing(ws, order.plan, wait=order.wait) as locked:
                found = reuse_or_admit(locked, order, request)
                admitted = found if isinstance(found, Admitted) else None
                begun = admitted and until_over.enter_context(
                    live_run(ws, order, admitted, signals=True)
                )
            if isinstance(found, Reused):
                return reused_outcome(ws, found, plain.streams)
            run = begun or until_over.enter_context(live_run(ws, order, signals=True))
            outcome = _performed(run, StepExecution(plain, request, step))
        return run_outcome(ws, request, outcome)

    def _order(
        self, given: PlanId | Plan, argv: tuple[str, ...], options: RunOptions | None, how: HowToRun
    ) -> RunOrder:
        plan = self._workspace.known(given)
        root, directory = directory_in_sandbox(plan.sandbox, how.get("cwd", "."))
        return RunOrder(
            plan=plan,
            argv=argv,
            root=root,
            cwd=directory,
            options=options or RunOptions(),
            if_running=how.get("if_running", IfRunning.REJECT),
            wait=how.get("wait", DEFAULT_WAIT),
            timing=self._timing,
        )

    @contextmanager
    def run(
        self,
        plan: PlanId | Plan,
        options: RunOptions | None = None,
        **how: Unpack[HowToRun],
    ) -> Generator[ActiveRun]:
        """Protect a block of Python code: an exception is a failure, and is raised again.

        The block calls `check()` of what it is given now and then: it raises if somebody asked
        for the end. Processes that the block starts belong to the run if they are given its
        `environment`.
        """
        order = self._order(plan, (), options, how)
        with live_run(self._workspace, order, signals=False) as run:
            with run.closed_in_any_case():
                run.mark_started(None)
            self._blocks.append(run)
            try:
                yield from _protected_block(run, Execution(self._environ))
            finally:
                self._blocks.remove(run)

    def step(
        self,
        key: str,
        function: Callable[..., Any],
        *arguments: Any,  # noqa: ANN401 - whatever the function takes
        **how: Unpack[HowToCall],
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """What a function returns, as a step of the run whose block this is called in."""
        if not self._blocks:
            raise RefusedError(
                f"there is no run that step {key!r} could belong to",
                hint="call it inside of `with runs.run(plan):`",
            )
        return self._blocks[-1].step(key, function, *arguments, **how)

    def get(self, plan: PlanId, reference: str) -> Run:
        """The run that a number, an id or the beginning of an id names."""
        with self._workspace.database.read() as uow:
            return find_run(uow, uow.plans.get(plan), reference)

    def list_runs(self, plan: PlanId, *, limit: int | None = None) -> list[Run]:
        """Newest first."""
        with self._workspace.database.read() as uow:
            return uow.runs.list(uow.plans.get(plan).plan_id, limit)

    def resume(
        self,
        plan: PlanId,
        argv: Sequence[str] = (),
        *,
        dry_run: bool = False,
        execution: Execution | None = None,
    ) -> Resumption:
        """Run the command of a crashed run again, in its directory and with its options.

        If a secret was in it, it has to be given again.
        """
        found = resumable(self._workspace, plan)
        run = found.run
        words = command_of(found.plan, run, argv)
        if dry_run:
            return found
        execute = self.execute_step if run.options.step else self.execute
        outcome = execute(found.plan, words, run.options, cwd=run.cwd, execution=execution)
        return replace(found, outcome=outcome)

    def abort(self, plan: PlanId, action: AbortAction | None = None) -> Run:
        """End the plan's run, wherever its command is, and wait until all of it is over."""
        ws = self._workspace
        with ws.database.read() as uow:
            name, live = uow.plans.get(plan).name, uow.runs.live(plan)
        if live is None:
            raise FailedError(
                f"plan {name!r} has no run to abort", hint=f"plan runs {name} shows what was run"
            )
        asked = request_abort(ws, live, action)
        ended = wait_until_over(ws, live)
        if not asked:
            ws.notices.append(
                f"run {live.number} was finishing already: it ended as {ended.status}"
            )
        wanted = action or ended.abort_action
        if asked and wanted is AbortAction.ROLLBACK and ended.status is not RunStatus.ROLLED_BACK:
            raise FailedError(
                f"run {live.number} was ended, but not rolled back: "
                f"{ended.result.get('problem', 'it had crashed')}",
                hint=f"plan rollback {name} before:{live.number} takes its changes back",
            )
        return ended


def _command(argv: Sequence[str]) -> tuple[str, ...]:
    if not argv:
        raise UsageError("no command is given", hint="put it after --: plan run -- make test")
    return tuple(argv)


def _performed(run: ActiveRun, execution: Execution | StepExecution) -> RunOutcome:
    with run.closed_in_any_case():
        ending = execution.perform(run)
    return run.conclude(ending)


def _protected_block(run: ActiveRun, execution: Execution) -> Generator[ActiveRun]:
    try:
        yield run
    except LeaseLostError:
        raise
    except BaseException as error:
        aborted = isinstance(error, (RunAbortedError, KeyboardInterrupt))
        cause = Cause.REQUEST if aborted else Cause.EXIT
        outcome = run.conclude(end_block(run, cause))
        if outcome.problem is not None:
            raise outcome.problem from error
        raise
    with run.closed_in_any_case():
        ending = end_block(run, Cause.EXIT, code=0)
        if ending.problem is None:
            ending = execution.after_success(run, ending)
    outcome = run.conclude(ending)
    if outcome.problem is not None:
        raise outcome.problem
    if outcome.run.status is not RunStatus.SUCCESS:
        raise RunAbortedError(
            f"run {outcome.run.number} did not succeed: it is {outcome.run.status}",
            hint=f"plan runs show {outcome.run.number} tells more",
        )
