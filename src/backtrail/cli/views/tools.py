"""Calls of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.shape import FLAG, ID, INTEGER, TEXT, listed, shape
from backtrail.cli.render.text import safe
from backtrail.cli.views.fields import CHECKPOINT
from backtrail.domain.errors import ExitCode
from backtrail.domain.wording import some_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.plan import Plan
    from backtrail.domain.tools import ToolCall


CALL = shape(
    tool=TEXT.at("name"),
    declared=FLAG.at(lambda call: call.declared is not None),
    operation_id=ID.at("operation"),
    exit_code=INTEGER,
    checkpoint=CHECKPOINT | None,
    checkpoint_reused=FLAG.at(lambda call: _is_reused(call, call.checkpoint)),
    post_checkpoint=CHECKPOINT | None,
    post_checkpoint_reused=FLAG.at(lambda call: _is_reused(call, call.post_checkpoint)),
    unexpected_changes=listed(TEXT.at("file")),
)
_NEVER_BEGAN = (ExitCode.NOT_EXECUTABLE, ExitCode.COMMAND_NOT_FOUND)


def called_report(plan: Plan, call: ToolCall) -> Report:
    """How a call went; standard output is the command's own, so that nothing is printed there."""
    return Report(
        data=CALL.of(call),
        plain=tuple,
        values={Value.ID: call.operation},
        messages=tuple(_sentences(plan, call)),
        exit_code=call.exit_code,
    )


def _is_reused(call: ToolCall, checkpoint: Checkpoint | None) -> bool:
    return checkpoint is not None and checkpoint.checkpoint_id in call.reused


def _sentences(plan: Plan, call: ToolCall) -> Iterator[str]:
    if call.failed and call.checkpoint and call.exit_code not in _NEVER_BEGAN:
        back = f"plan rollback {plan.name} {call.checkpoint.seq} takes its changes back"
        yield f"tool {call.name} failed with {call.exit_code}; {back}"
    elif call.failed:
        yield f"tool {call.name} failed with {call.exit_code}"
    changed = [safe(change.file) for change in call.unexpected_changes]
    if changed:
        yield f"tool {call.name} is declared to only read, but changed {some_of(changed)}"
