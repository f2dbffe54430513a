"""Using the record of a step once more: its output to the right streams, and its exit code."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from backtrail.domain.errors import ExitCode
from backtrail.domain.step import Mark, OutputState
from backtrail.processes.tee import write_all
from backtrail.services.steps.output import OutputShelf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrail.domain.step import StepEntry
    from backtrail.services.session.context import Workspace


_UNHAD = {
    OutputState.PRUNED: "output pruned",
    OutputState.LOST: "its output could not be kept",
}


def replay(ws: Workspace, entry: StepEntry, streams: Mapping[int, int]) -> int:
    """Print what a step printed, where it printed it; the exit code that it had."""
    done, key = entry.completion, entry.step.name.key
    if done is None or done.result is None:
        raise AssertionError
    state = _replayed(ws, entry, done, streams) if done.keeps_output else done.result.output
    if state in _UNHAD:
        ws.notices.append(f"step {key!r}: {_UNHAD[state]}")
    ws.notices.append(f"step {key!r} is reused: it {done.result.outcome} before")
    return ExitCode.FAILED if done.result.exit_code is None else done.result.exit_code


def _replayed(
    ws: Workspace, entry: StepEntry, done: Mark, streams: Mapping[int, int]
) -> OutputState:
    def write(stream: int, piece: bytes) -> None:
        write_all(streams.get(stream, stream), piece)

    shelf = OutputShelf.of(ws.layout.home, entry.step.plan_id)
    # Who has seen enough of it closes the pipe, and gets the code all the same.
    with suppress(BrokenPipeError):
        if done.attempt_id is None or not shelf.replay(done.attempt_id, write):
            return OutputState.LOST
    return OutputState.KEPT
