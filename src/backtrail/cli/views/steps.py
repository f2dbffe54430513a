"""The steps of a plan."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from backtrail.cli.render.look import text
from backtrail.cli.render.report import Report, listing
from backtrail.cli.render.shape import (
    COUNT,
    FLAG,
    ID,
    INTEGER,
    MOMENT,
    ORDINAL,
    TEXT,
    listed,
    shape,
    words,
)
from backtrail.cli.render.text import ago, columns
from backtrail.cli.views.fields import OF_A_PLAN
from backtrail.domain.ledger import StepStatus
from backtrail.domain.step import COMMAND_LINE, Outcome, OutputState

if TYPE_CHECKING:
    from datetime import datetime

    from rich.text import Text

    from backtrail.domain.ledger import StepEntry
    from backtrail.services.steps.service import ListedStep, StepListing


STEP = shape(
    "step",
    step_id=ID.at("entry.step.step_id"),
    key=TEXT.at("entry.step.name.key"),
    ordinal=COUNT.at("entry.step.name.ordinal"),
    status=words(StepStatus),
    live=FLAG.at("entry.valid"),
    position=ORDINAL.at("entry.place"),
    digest=TEXT.at("entry.step.digest"),
    command=listed(TEXT).at("entry.step.command"),
    directory=TEXT.at("entry.step.directory"),
    run_id=ID.at("entry.attempt.run_id"),
    decision_id=(ID | None).at("entry.step.decision_id"),
    outcome=(words(Outcome) | None).at("entry.result.outcome"),
    exit_code=(INTEGER | None).at("entry.result.exit_code"),
    reused=COUNT.at("entry.reuses"),
    output=(words(OutputState) | None).at("entry.result.output"),
    output_bytes=(COUNT | None).at("entry.result.output_bytes"),
    started_at=MOMENT.at("entry.attempt.at"),
    completed_at=(MOMENT | None).at(lambda listed: _ended_at(listed.entry)),
)
STEPS = shape(**OF_A_PLAN, steps=listed(STEP))
_STYLES = {
    StepStatus.RUNNING: "yellow",
    StepStatus.PENDING: "bold yellow",
    StepStatus.SUCCEEDED: "green",
    StepStatus.REUSED: "green",
    StepStatus.FAILED: "bold red",
    StepStatus.DROPPED: "dim",
    StepStatus.SUPERSEDED: "dim",
}


def steps_report(found: StepListing) -> Report:
    return listing(
        STEPS.of(found),
        found.steps,
        line=_line,
        row=_row,
        titles=("step", "status", "exit", "when", "output", "command"),
        more=("position", "id"),
        none=f"Plan {found.plan.name} has no steps yet; plan run --step KEY makes one.",
    )


def _row(step: ListedStep) -> list[Text]:
    entry, code = step.entry, _exit_code(step)
    gone = "" if entry.valid else "dim"
    return [
        text(_name(entry), gone or "bold cyan"),
        text(step.status, _STYLES[step.status]),
        text("-" if code is None else code, gone),
        text(ago(_ended_at(entry) or entry.attempt.at), "dim"),
        text(_output(entry), "dim"),
        text(shlex.join(entry.step.command), gone),
        text(entry.place),
        text(entry.step.step_id, "dim"),
    ]


def _line(step: ListedStep) -> str:
    entry = step.entry
    return columns(
        _name(entry),
        step.status,
        _exit_code(step),
        _ended_at(entry) or entry.attempt.at,
        _output(entry),
        shlex.join(entry.step.command),
    )


def _exit_code(step: ListedStep) -> int | None:
    return step.entry.result.exit_code if step.entry.result else None


def _name(entry: StepEntry) -> str:
    name = entry.step.name
    return name.key if name.ordinal == COMMAND_LINE else f"{name.key} ({name.ordinal})"


def _output(entry: StepEntry) -> str:
    if entry.result is None or entry.result.output is OutputState.NONE:
        return "-"
    return f"output {entry.result.output}"


def _ended_at(entry: StepEntry) -> datetime | None:
    return entry.completion.at if entry.completion and not entry.pending else None
