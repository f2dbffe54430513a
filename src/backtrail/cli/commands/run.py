"""`plan run` and `plan abort`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backtrail.cli.invocation.session import Format, Session
from backtrail.cli.parsing.options import (
    PlanArgument,
    PlanOption,
    Wait,
    option,
    some_path,
    something,
)
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Failure, Report
from backtrail.domain.errors import UsageError
from backtrail.domain.quantities import parse_timeout
from backtrail.domain.run import AbortAction, IfRunning, OnFailure, RunOptions
from backtrail.domain.step import StepOptions

if TYPE_CHECKING:
    from backtrail.services.runs.supervise import Execution

STDOUT, STDERR = 1, 2
STEPS = "Steps"
OnFailureOption = Annotated[
    OnFailure,
    typer.Option("--on-failure", help="What to do about its files if it fails or times out."),
]
OnAbortOption = Annotated[
    AbortAction,
    typer.Option("--on-abort", help="What to do about its files if it is interrupted."),
]
IfRunningOption = Annotated[
    IfRunning, typer.Option("--if-running", help="What to do if another run of the plan is active.")
]
Timeout = Annotated[
    str | None,
    option("--timeout", metavar="TIME", help="End it after so many seconds, or 10m, 2h."),
]
Verify = Annotated[
    str | None,
    option(
        "--verify",
        parser=something,
        metavar="COMMAND",
        help="A shell command that must succeed, too; implies --post-checkpoint, which is "
        "marked green then.",
    ),
]
PostCheckpoint = Annotated[
    bool, typer.Option("--post-checkpoint", help="Save what the command left, too.")
]
Cwd = Annotated[
    str,
    typer.Option(
        "--cwd", parser=something, metavar="DIR", help="Start it in this directory of the sandbox."
    ),
]
ResultFile = Annotated[
    Path | None,
    option(
        "--result",
        parser=some_path,
        metavar="FILE",
        help="Write the JSON envelope there; output stays as it is.",
    ),
]
AllowUnprotected = Annotated[
    bool,
    typer.Option("--allow-unprotected", help="Go on if no checkpoint can be taken before it."),
]


Step = Annotated[
    str | None,
    option(
        "--step",
        metavar="KEY",
        help="Record it under this key; if it was done before, use the record and run nothing.",
        panel=STEPS,
    ),
]
Reconcile = Annotated[
    str | None,
    option(
        "--reconcile",
        metavar="COMMAND",
        help="A shell command that is run instead, if the step was started before and its end "
        "is not known: its code is the step's.",
        panel=STEPS,
    ),
]
ReuseFailed = Annotated[
    bool,
    typer.Option("--reuse-failed", help="Use the record of a failure, too.", rich_help_panel=STEPS),
]
Variables = Annotated[
    list[str] | None,
    option(
        "--env",
        metavar="NAME",
        help="The value of this variable is a part of the step's arguments; repeatable.",
        panel=STEPS,
    ),
]


def run(
    session: Session,
    plan: PlanArgument = None,
    *,
    plan_option: PlanOption = None,
    on_failure: OnFailureOption = OnFailure.KEEP,
    on_abort: OnAbortOption = AbortAction.INTERRUPT,
    if_running: IfRunningOption = IfRunning.REJECT,
    timeout: Timeout = None,
    verify: Verify = None,
    post_checkpoint: PostCheckpoint = False,
    cwd: Cwd = ".",
    result: ResultFile = None,
    allow_unprotected: AllowUnprotected = False,
    wait: Wait = 30.0,
    step: Step = None,
    reconcile: Reconcile = None,
    reuse_failed: ReuseFailed = False,
    env: Variables = None,
) -> Report | Failure:
    """Run a command in the sandbox, after a checkpoint: plan run [PLAN] -- COMMAND."""
    from backtrail.cli.views.runs import outcome_report

    session.take_result_file(result)
    if not session.trailing:
        raise UsageError("no command is given", hint="put it after --: plan run -- make test")
    options = RunOptions(
        on_failure=on_failure,
        on_abort=on_abort,
        timeout=None if timeout is None else parse_timeout(timeout),
        verify=verify,
        post_checkpoint=post_checkpoint,
        allow_unprotected=allow_unprotected,
        step=_step_options(step, reconcile, tuple(env or ()), reuse_failed=reuse_failed),
    )
    with session.services() as services:
        found = Finder(session, services, plan_option, destructive=True).plan(plan)
        execute = services.runs.execute_step if options.step else services.runs.execute
        outcome = execute(
            found,
            session.trailing,
            options,
            if_running=if_running,
            cwd=cwd,
            wait=wait,
            execution=execution_of(session),
        )
    return outcome_report(outcome)


def _step_options(
    key: str | None, reconcile: str | None, variables: tuple[str, ...], *, reuse_failed: bool
) -> StepOptions | None:
    if key is not None:
        return StepOptions(key, reconcile, reuse_failed=reuse_failed, variables=variables)
    if reconcile is not None or variables or reuse_failed:
        raise UsageError(
            "--reconcile, --reuse-failed and --env are about a step, and none is named",
            hint="name it with --step KEY",
        )
    return None


def execution_of(session: Session) -> Execution:
    """With JSON on standard output, the command's own output goes to standard error."""
    from backtrail.services.runs.supervise import Execution

    apart = session.format is Format.JSON and session.result_file is None
    return Execution(
        session.environ,
        streams={STDOUT: STDERR} if apart else {},
        adopt=True,
        before_start=session.progress.stop,
    )


def abort(
    session: Session,
    plan: PlanArgument = None,
    *,
    plan_option: PlanOption = None,
    action: Annotated[
        AbortAction | None,
        option(
            "--action", help="What to do about its files; else what the run's own --on-abort says."
        ),
    ] = None,
) -> Report:
    """End the run of a plan, wherever it was started, and wait until it is over."""
    from backtrail.cli.views.runs import shown_report

    with session.services() as services:
        found = Finder(session, services, plan_option, destructive=True).plan(plan)
        return shown_report(services.runs.abort(found.plan_id, action))
