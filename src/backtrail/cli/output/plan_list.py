"""The report of `plan list`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrail.cli.output.fields import plan_fields
from backtrail.cli.output.report import Report
from backtrail.cli.output.text import ago, safe, size, timestamp
from backtrail.domain.plan import PlanState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.text import Text

    from backtrail.domain.plan import PlanSummary


def plans_report(plans: Sequence[PlanSummary], *, changes: bool = False) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.output.look import table, text

        if not plans:
            yield text("There are no plans here; plan create NAME makes one.", "dim")
            return
        names = ["plan", "phase", "state", "active", "checkpoints", "size"]
        names += ["changed"] if changes else []
        names += ["sandbox", "id"] if verbose else ["sandbox"]
        yield table(names, [_rich_row(p, changes=changes, verbose=verbose) for p in plans])

    return Report(
        data={"plans": [_fields(p) for p in plans]},
        plain=lambda: ("\t".join(_plain_row(p)) for p in plans),
        rich=rich,
    )


def _fields(summary: PlanSummary) -> dict[str, Any]:
    return {
        **plan_fields(summary.plan),
        "active_at": summary.active_at,
        "checkpoints": summary.checkpoints,
        "size_bytes": summary.size_bytes,
        "changed_files": summary.changed_files,
        "sandbox_present": summary.present,
    }


def _plain_row(summary: PlanSummary) -> tuple[str, ...]:
    plan = summary.plan
    return (
        plan.name,
        plan.plan_id,
        plan.phase,
        plan.state,
        safe(plan.sandbox.path),
        timestamp(summary.active_at),
        str(summary.checkpoints),
        str(summary.size_bytes),
        _changed(summary),
    )


def _changed(summary: PlanSummary) -> str:
    return "-" if summary.changed_files is None else str(summary.changed_files)


def _rich_row(summary: PlanSummary, *, changes: bool, verbose: bool) -> list[Text]:
    from backtrail.cli.output.look import line, state, text

    plan = summary.plan
    lost = not summary.present and plan.state is not PlanState.REMOVED
    place = line((plan.sandbox.path, ""), (" missing", "bold red") if lost else ("", ""))
    row = [
        text(plan.name, "bold"),
        text(plan.phase),
        state(plan.state),
        text(ago(summary.active_at), "dim"),
        text(summary.checkpoints),
        text(size(summary.size_bytes), "dim"),
    ]
    row += [text(_changed(summary), "yellow")] if changes else []
    return [*row, place, text(plan.plan_id, "dim")] if verbose else [*row, place]
