"""Reports about calls of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.text import safe
from backtrail.cli.views.fields import checkpoint_fields
from backtrail.domain.errors import ExitCode
from backtrail.domain.wording import some_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.plan import Plan
    from backtrail.domain.tools import ToolCall


_NEVER_BEGAN = (ExitCode.NOT_EXECUTABLE, ExitCode.COMMAND_NOT_FOUND)


def called_report(plan: Plan, call: ToolCall) -> Report:
    """How a call went; standard output is the command's own, so that nothing is printed there."""
    return Report(
        data={
            "tool": call.name,
            "declared": call.declared is not None,
            "operation_id": call.operation,
            "exit_code": call.exit_code,
            **_mark(call, call.checkpoint, "checkpoint"),
            **_mark(call, call.post_checkpoint, "post_checkpoint"),
            "unexpected_changes": [change.file for change in call.unexpected_changes],
        },
        plain=tuple,
        values={Value.ID: call.operation},
        messages=tuple(_sentences(plan, call)),
        exit_code=call.exit_code,
    )


def _mark(call: ToolCall, checkpoint: Checkpoint | None, name: str) -> dict[str, Any]:
    reused = checkpoint is not None and checkpoint.checkpoint_id in call.reused
    return {name: checkpoint_fields(checkpoint) if checkpoint else None, f"{name}_reused": reused}


def _sentences(plan: Plan, call: ToolCall) -> Iterator[str]:
    if call.failed and call.checkpoint and call.exit_code not in _NEVER_BEGAN:
        back = f"plan rollback {plan.name} {call.checkpoint.seq} takes its changes back"
        yield f"tool {call.name} failed with {call.exit_code}; {back}"
    elif call.failed:
        yield f"tool {call.name} failed with {call.exit_code}"
    changed = [safe(change.file) for change in call.unexpected_changes]
    if changed:
        yield f"tool {call.name} is declared to only read, but changed {some_of(changed)}"
