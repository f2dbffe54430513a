"""Reports about runs."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backtrail.cli.render.report import Failure, Report, Value
from backtrail.cli.render.text import ago, safe, timestamp
from backtrail.cli.views.fields import checkpoint_fields, rollback_fields, run_fields
from backtrail.cli.views.steps import step_fields
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


_NO_RUN = {"run": None, "checkpoint": None, "post_checkpoint": None, "rollback": None}
_WORTH_TELLING = ("cause", "verify_exit_code", "ended_processes", "problem", "crashed")


def listed_report(plan: Plan, runs: Sequence[Run]) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import table, text

        if not runs:
            yield text(f"Nothing has been run in plan {plan.name} yet.", "dim")
            return
        names = ["#", "status", "code", "when", "command"]
        rows = [_rich_row(run, verbose=verbose) for run in runs]
        yield table([*names, "id"] if verbose else names, rows)

    return Report(
        data={"runs": [run_fields(run) for run in runs]},
        plain=lambda: (_plain_row(run) for run in runs),
        rich=rich,
    )


def shown_report(run: Run) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import facts, panel, text

        del verbose
        rows = [(name.capitalize(), text(value)) for name, value in _facts(run)]
        yield panel(f"Run {run.number}", facts(rows))

    return Report(
        data={"run": run_fields(run)},
        plain=lambda: (f"{name.replace(' ', '_')}: {safe(value)}" for name, value in _facts(run)),
        rich=rich,
    )


def _facts(run: Run) -> list[tuple[str, str]]:
    moments = (("created", run.created_at), ("started", run.started_at), ("ended", run.ended_at))
    return [
        ("run", str(run.number)),
        ("run id", run.run_id),
        ("status", str(run.status)),
        ("exit code", "-" if run.exit_code is None else str(run.exit_code)),
        ("command", _words(run)),
        ("directory", run.cwd),
        ("checkpoint before", run.pre_checkpoint_id or "-"),
        ("checkpoint after", run.post_checkpoint_id or "-"),
        *((name, timestamp(moment) if moment else "-") for name, moment in moments),
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


def _rich_row(run: Run, *, verbose: bool) -> list[Text]:
    from backtrail.cli.render.look import state, text

    row = [
        text(run.number, "bold cyan"),
        state(run.status),
        text("" if run.exit_code is None else run.exit_code),
        text(ago(run.created_at), "dim"),
        text(_words(run)),
    ]
    return [*row, text(run.run_id, "dim")] if verbose else row


def _plain_row(run: Run) -> str:
    return "\t".join(
        (
            str(run.number),
            run.run_id,
            run.status,
            "-" if run.exit_code is None else str(run.exit_code),
            timestamp(run.created_at),
            safe(_words(run)),
        )
    )


def outcome_report(outcome: RunOutcome | StepOutcome) -> Report | Failure:
    """How a run went; standard output is the command's own, so that nothing is printed there."""
    if not isinstance(outcome, RunOutcome):
        return _step_report(outcome)
    data, problem = _outcome_fields(outcome), outcome.problem
    if problem is not None:
        details = {**problem.details, "exit_code": int(problem.exit_code)}
        return Failure(
            ExitCode.NOT_RUN, problem.code, problem.message, problem.hint, details, data=data
        )
    return Report(
        data=data,
        plain=tuple,
        values={Value.ID: outcome.run.run_id},
        messages=tuple(_sentences(outcome)),
        exit_code=outcome.exit_code,
    )


def _step_report(outcome: StepOutcome) -> Report | Failure:
    told = {
        "step": step_fields(outcome.step) if outcome.step else None,
        "reused": outcome.reused,
    }
    if outcome.run is None:
        return Report(data={**_NO_RUN, **told}, plain=tuple, exit_code=outcome.exit_code)
    report = outcome_report(outcome.run)
    return replace(report, data={**(report.data or {}), **told})


def resumption_report(resumption: Resumption) -> Report | Failure:
    """What a resumed run did; of a dry run, what was completed and what is pending."""
    data = {
        "run": run_fields(resumption.run),
        "completed": list(resumption.progress.completed),
        "pending": list(resumption.progress.pending),
        "dry_run": resumption.outcome is None,
    }
    if resumption.outcome is None:
        return Report(data={**data, "resumed": None}, plain=lambda: _progress_lines(resumption))
    report = outcome_report(resumption.outcome)
    return replace(report, data={**data, "resumed": report.data})


def _progress_lines(resumption: Resumption) -> Iterator[str]:
    yield f"run: {resumption.run.number}"
    yield from (f"completed\t{safe(what)}" for what in resumption.progress.completed)
    yield from (f"pending\t{safe(what)}" for what in resumption.progress.pending)


def _outcome_fields(outcome: RunOutcome) -> dict[str, Any]:
    before, after = outcome.pre_checkpoint, outcome.post_checkpoint
    return {
        "run": run_fields(outcome.run),
        "checkpoint": checkpoint_fields(before) if before else None,
        "post_checkpoint": checkpoint_fields(after) if after else None,
        "rollback": rollback_fields(outcome.rollback) if outcome.rollback else None,
        "step": None,
        "reused": False,
    }


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
