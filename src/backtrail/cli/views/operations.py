"""The operation log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.look import state, text
from backtrail.cli.render.report import Report, listing
from backtrail.cli.render.shape import itself, listed, shape
from backtrail.cli.render.text import ago, columns
from backtrail.cli.views.fields import OPERATION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan


OPERATIONS = shape(operations=listed(OPERATION).at(itself))


def operations_report(plan: Plan, operations: Sequence[Operation]) -> Report:
    return listing(
        OPERATIONS.of(operations),
        operations,
        line=_line,
        row=_row,
        titles=("#", "operation", "state", "when", "who", "command"),
        more=("reason", "id"),
        none=f"Nothing has been done to plan {plan.name} yet.",
    )


def _row(operation: Operation) -> list[Text]:
    return [
        text(operation.number, "bold cyan"),
        text(operation.kind.replace("_", " ")),
        state(operation.state),
        text(ago(operation.started_at), "dim"),
        text(operation.actor, "dim"),
        text(operation.command_line),
        text(operation.reason),
        text(operation.operation_id, "dim"),
    ]


def _line(operation: Operation) -> str:
    return columns(
        operation.number,
        operation.operation_id,
        operation.kind,
        operation.state,
        operation.started_at,
        operation.actor,
        operation.command_line,
        operation.reason,
    )
