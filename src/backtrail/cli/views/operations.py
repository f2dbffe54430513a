"""The report of the operation log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.report import Report
from backtrail.cli.render.text import ago, safe, timestamp
from backtrail.cli.views.fields import operation_fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.text import Text

    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan


def operations_report(plan: Plan, operations: Sequence[Operation]) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import table, text

        if not operations:
            yield text(f"Nothing has been done to plan {plan.name} yet.", "dim")
            return
        names = ["#", "operation", "state", "when", "who", "command"]
        rows = [_rich_row(o, verbose=verbose) for o in operations]
        yield table([*names, "reason", "id"] if verbose else names, rows)

    return Report(
        data={"operations": [operation_fields(o) for o in operations]},
        plain=lambda: (_plain_row(o) for o in operations),
        rich=rich,
    )


def _rich_row(operation: Operation, *, verbose: bool) -> list[Text]:
    from backtrail.cli.render.look import state, text

    row = [
        text(operation.number, "bold cyan"),
        text(operation.kind.replace("_", " ")),
        state(operation.state),
        text(ago(operation.started_at), "dim"),
        text(operation.actor, "dim"),
        text(operation.command_line),
    ]
    more = [text(operation.reason), text(operation.operation_id, "dim")]
    return [*row, *more] if verbose else row


def _plain_row(operation: Operation) -> str:
    return "\t".join(
        (
            str(operation.number),
            operation.operation_id,
            operation.kind,
            operation.state,
            timestamp(operation.started_at),
            safe(operation.actor),
            safe(operation.command_line),
            safe(operation.reason),
        )
    )
