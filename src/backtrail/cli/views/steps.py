"""The report of the steps of a plan."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from backtrail.cli.render.report import Report
from backtrail.cli.render.text import ago, safe, timestamp
from backtrail.domain.ledger import StepStatus
from backtrail.domain.step import COMMAND_LINE, OutputState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from rich.console import RenderableType
    from rich.text import Text

    from backtrail.domain.ledger import StepEntry
    from backtrail.services.steps.service import ListedStep, StepListing


_STYLES = {
    StepStatus.RUNNING: "yellow",
    StepStatus.PENDING: "bold yellow",
    StepStatus.SUCCEEDED: "green",
    StepStatus.REUSED: "green",
    StepStatus.FAILED: "bold red",
    StepStatus.DROPPED: "dim",
    StepStatus.SUPERSEDED: "dim",
}


def steps_report(listing: StepListing) -> Report:
    plan, steps = listing.plan, listing.steps

    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import table, text

        if not steps:
            yield text(f"Plan {plan.name} has no steps yet; plan run --step KEY makes one.", "dim")
            return
        names = ["step", "status", "exit", "when", "output", "command"]
        rows = [_rich_row(step, verbose=verbose) for step in steps]
        yield table([*names, "position", "id"] if verbose else names, rows)

    return Report(
        data={
            "plan": plan.name,
            "plan_id": plan.plan_id,
            "steps": [step_fields(step) for step in steps],
        },
        plain=lambda: (_plain_row(step) for step in steps),
        rich=rich,
    )


def step_fields(listed: ListedStep) -> dict[str, Any]:
    entry = listed.entry
    step, result, ended = entry.step, entry.result, _ended_at(entry)
    return {
        "step_id": step.step_id,
        "key": step.name.key,
        "ordinal": step.name.ordinal,
        "status": listed.status,
        "live": entry.valid,
        "position": entry.place,
        "digest": step.digest,
        "command": list(step.command),
        "directory": step.directory,
        "run_id": entry.attempt.run_id,
        "decision_id": step.decision_id,
        "outcome": result.outcome if result else None,
        "exit_code": result.exit_code if result else None,
        "reused": entry.reuses,
        "output": result.output if result else None,
        "output_bytes": result.output_bytes if result else None,
        "started_at": entry.attempt.at,
        "completed_at": ended,
    }


def _rich_row(listed: ListedStep, *, verbose: bool) -> list[Text]:
    from backtrail.cli.render.look import text

    entry, result = listed.entry, listed.entry.result
    gone = "" if entry.valid else "dim"
    row = [
        text(_name(entry), gone or "bold cyan"),
        text(listed.status, _STYLES[listed.status]),
        text("-" if result is None or result.exit_code is None else result.exit_code, gone),
        text(ago(_ended_at(entry) or entry.attempt.at), "dim"),
        text(_output(entry), "dim"),
        text(shlex.join(entry.step.command), gone),
    ]
    more = [text(entry.place), text(entry.step.step_id, "dim")]
    return [*row, *more] if verbose else row


def _plain_row(listed: ListedStep) -> str:
    entry, result = listed.entry, listed.entry.result
    return "\t".join(
        (
            safe(_name(entry)),
            listed.status,
            str(result.exit_code) if result and result.exit_code is not None else "-",
            timestamp(_ended_at(entry) or entry.attempt.at),
            _output(entry),
            safe(shlex.join(entry.step.command)),
        )
    )


def _name(entry: StepEntry) -> str:
    name = entry.step.name
    return name.key if name.ordinal == COMMAND_LINE else f"{name.key} ({name.ordinal})"


def _output(entry: StepEntry) -> str:
    if entry.result is None or entry.result.output is OutputState.NONE:
        return "-"
    return f"output {entry.result.output}"


def _ended_at(entry: StepEntry) -> datetime | None:
    return entry.completion.at if entry.completion and not entry.pending else None
