"""Runs: one, many, and what came of one that was just made."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.cli.render.look import facts, panel, state, text
from backtrail.cli.render.report import Failure, Report, Value, listing
from backtrail.cli.render.shape import FLAG, TEXT, itself, listed, shape
from backtrail.cli.render.text import ago, columns, named, plain, safe
from backtrail.cli.views.fields import CHECKPOINT, ROLLBACK, RUN
from backtrail.cli.views.steps import STEP
from backtrail.domain.errors import ExitCode
from backtrail.domain.run import RunOutcome, RunStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.text import Text

    from backtrail.domain.plan import Plan
    from backtrail.domain.run import Run
    from backtrail.services.runs.service import Resumption
    from backtrail.services.runs.step import StepOutcome


ONE_RUN = shape(run=RUN.at(itself))
RUNS = shape(runs=listed(RUN).at(itself))
OUTCOME = shape(
    "outcome",
    run=(RUN | None).at("run.run"),
    checkpoint=(CHECKPOINT | None).at("run.pre_checkpoint"),
    post_checkpoint=(CHECKPOINT | None).at("run.post_checkpoint"),
    rollback=(ROLLBACK | None).at("run.rollback"),
    step=STEP | None,
    reused=FLAG,
)
RESUMPTION = shape(
    run=RUN,
    completed=listed(TEXT).at("progress.completed"),
    pending=listed(TEXT).at("progress.pending"),
    dry_run=FLAG.at(lambda resumption: resumption.outcome is None),
    resumed=(OUTCOME | None).at(lambda resumption: _as_step(resumption.outcome)),
)
_WORTH_TELLING = ("cause", "verify_exit_code", "ended_processes", "problem", "crashed")


def listed_report(plan: Plan, runs: Sequence[Run]) -> Report:
    return listing(
        RUNS.of(runs),
        runs,
        line=_line,
        row=_row,
        titles=("#", "status", "code", "when", "command"),
        more=("id",),
        none=f"Nothing has been run in plan {plan.name} yet.",
    )


def shown_report(run: Run) -> Report:
    def rich(_: bool) -> Iterator[RenderableType]:
        yield panel(f"Run {run.number}", facts((n.capitalize(), v) for n, v in _facts(run)))

    return Report(
        data=ONE_RUN.of(run),
        plain=lambda: named((name.replace(" ", "_"), value) for name, value in _facts(run)),
        rich=rich,
    )


def _facts(run: Run) -> list[tuple[str, str]]:
    return [
        ("run", str(run.number)),
        ("run id", run.run_id),
        ("status", run.status),
        ("exit code", plain(run.exit_code)),
        ("command", _words(run)),
        ("directory", run.cwd),
        ("checkpoint before", plain(run.pre_checkpoint_id)),
        ("checkpoint after", plain(run.post_checkpoint_id)),
        ("created", plain(run.created_at)),
        ("started", plain(run.started_at)),
        ("ended", plain(run.ended_at)),
        ("by", f"{run.actor} on {run.host}"),
        *((name.replace("_", " "), str(value)) for name, value in run.options.as_json().items()),
        *((name.replace("_", " "), str(value)) for name, value in _told(run)),
    ]


def _told(run: Run) -> list[tuple[str, object]]:
    """Of how it ended, what a person wants to know."""
    return [(name, run.result[name]) for name in _WORTH_TELLING if run.result.get(name)]


def run_words(run: Run | None) -> str:
    """A live run in a few words."""
    return f"{run.number} {run.status}: {safe(_words(run))}" if run else "-"


def _words(run: Run) -> str:
    return shlex.join(run.argv) or "(Python code)"


def _row(run: Run) -> list[Text]:
    return [
        text(run.number, "bold cyan"),
        state(run.status),
        text("" if run.exit_code is None else run.exit_code),
        text(ago(run.created_at), "dim"),
        text(_words(run)),
        text(run.run_id, "dim"),
    ]


def _line(run: Run) -> str:
    return columns(run.number, run.run_id, run.status, run.exit_code, run.created_at, _words(run))


def outcome_report(outcome: RunOutcome | StepOutcome) -> Report | Failure:
    """How a run went; standard output is the command's own, so that nothing is printed there."""
    data = OUTCOME.of(_as_step(outcome))
    run = outcome if isinstance(outcome, RunOutcome) else outcome.run
    if run is None:
        return Report(data=data, plain=tuple, exit_code=outcome.exit_code)
    problem = run.problem
    if problem is not None:
        details = {**problem.details, "exit_code": int(problem.exit_code)}
        return Failure(
            ExitCode.NOT_RUN, problem.code, problem.message, problem.hint, details, data=data
        )
    return Report(
        data=data,
        plain=tuple,
        values={Value.ID: run.run.run_id},
        messages=tuple(_sentences(run)),
        exit_code=run.exit_code,
    )


def _as_step(outcome: RunOutcome | StepOutcome | None) -> object:
    """A run without a step told in the terms of one."""
    if isinstance(outcome, RunOutcome):
        return {"run": outcome, "step": None, "reused": False}
    return outcome


def resumption_report(resumption: Resumption) -> Report | Failure:
    """What a resumed run did; of a dry run, what was completed and what is pending."""
    data = RESUMPTION.of(resumption)
    if resumption.outcome is None:
        return Report(data=data, plain=lambda: _progress_lines(resumption))
    return replace(outcome_report(resumption.outcome), data=data)


def _progress_lines(resumption: Resumption) -> Iterator[str]:
    yield f"run: {resumption.run.number}"
    yield from (f"completed\t{safe(what)}" for what in resumption.progress.completed)
    yield from (f"pending\t{safe(what)}" for what in resumption.progress.pending)


def _sentences(outcome: RunOutcome) -> list[str]:
    """One line about a run that did not succeed: what happened, and the way back."""
    run, name = outcome.run, outcome.plan.name
    if run.status is RunStatus.SUCCESS:
        return []
    what = f"run {run.number} {_what_happened(outcome)}"
    if outcome.rollback is not None:
        to = outcome.rollback.target.seq
        return [f"{what}; rolled back to checkpoint {to}, plan undo {name} brings its files back"]
    if outcome.pre_checkpoint is None or not run.result.get("cause"):
        return [what]
    back = f"plan rollback {name} before:{run.number} takes its changes back"
    return [f"{what}; its files are kept, {back}"]


def _what_happened(outcome: RunOutcome) -> str:
    if outcome.exit_code == ExitCode.INTERRUPTED and outcome.run.abort_action:
        return "was interrupted"
    if outcome.exit_code == ExitCode.TIMED_OUT and outcome.run.result.get("cause") == "timeout":
        return f"was ended after {outcome.run.options.timeout:g} s"
    if outcome.run.result.get("not_started"):
        return f"did not start: {outcome.exit_code}"
    if outcome.run.result.get("verify_exit_code"):
        return f"did not pass its check, which ended with {outcome.exit_code}"
    return f"failed with {outcome.exit_code}"
