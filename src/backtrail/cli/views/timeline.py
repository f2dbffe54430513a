"""The report of `plan log`: the timeline and its branches, as a drawing and as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from backtrail.cli.render.graph import ASCII, graph_width, link_line, node_line, tail_line
from backtrail.cli.render.report import Report
from backtrail.cli.render.text import count, safe, timestamp
from backtrail.cli.views.fields import checkpoint_fields
from backtrail.domain.checkpoint import CheckpointState
from backtrail.domain.operation import GOING_BACK
from backtrail.domain.wording import of_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from backtrail.cli.render.graph import GraphRow
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.history import CameFrom, History, HistoryEntry


"""The width of a terminal from which on one line holds everything."""


PLAIN_COLUMNS = 12
"""A pipe has no width, but nobody follows more branches than this side by side."""


def log_report(history: History) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import text
        from backtrail.cli.views.timeline_drawing import Timeline

        if history.entries:
            yield Timeline(history, verbose=verbose)
        else:
            yield text(f"Plan {history.plan.name} has no checkpoints to show.", "dim")
        note = _left_out(history)
        if note:
            yield text(note, "dim")

    return Report(data=_fields(history), plain=lambda: _plain_lines(history), rich=rich)


def subject_of(entry: HistoryEntry) -> str:
    """What a checkpoint is about, in one line."""
    if entry.came_from is None:
        return entry.checkpoint.reason
    operation, target = entry.came_from.operation, entry.came_from.target
    said = f"{operation.kind} to {target.seq}"
    if target.label:
        said += f" [{target.label}]"
    only = of_paths(operation.paths)
    # The reason of an undo or a redo is ours and says nothing that is not said already.
    if operation.kind not in GOING_BACK or operation.reason in {"", only.strip()}:
        return f"{said}{only}"
    return f"{said}: {operation.reason}"


def marks_of(entry: HistoryEntry, row: GraphRow) -> Iterator[str]:
    checkpoint = entry.checkpoint
    if entry.latest:
        yield "latest"
    if checkpoint.state is not CheckpointState.COMPLETE:
        yield checkpoint.state
    if checkpoint.pinned:
        yield "pinned"
    if checkpoint.verified_green:
        yield "green"
    if row.fades and entry.follows and not _names(entry, entry.follows):
        yield f"follows {entry.follows.seq}"


def _names(entry: HistoryEntry, other: Checkpoint) -> bool:
    """Whether the subject tells of the other one anyway."""
    return entry.came_from is not None and entry.came_from.target.seq == other.seq


def files_changed(entry: HistoryEntry) -> str:
    return "" if entry.files_changed is None else count(entry.files_changed, "file")


def plain_node(entry: HistoryEntry) -> str:
    if entry.latest:
        return "@"
    if not entry.checkpoint.restorable:
        return "x"
    return "*" if entry.checkpoint.live else "o"


def _left_out(history: History) -> str:
    """What is not shown, and how to see it."""
    left_out = history.left_out
    parts = (
        (left_out.older, "older"),
        (left_out.superseded, "superseded"),
        (left_out.tombstones, "failed or pruned (--all)"),
    )
    told = [f"{number} {what}" for number, what in parts if number]
    return f"Not shown: {', '.join(told)}" if told else ""


def _fields(history: History) -> dict[str, Any]:
    rows = history.graph()
    return {
        "plan": history.plan.name,
        "plan_id": history.plan.plan_id,
        "current_epoch": history.plan.current_epoch,
        "entries": [
            _entry_fields(entry, row) for entry, row in zip(history.entries, rows, strict=True)
        ],
        "left_out": asdict(history.left_out),
    }


def _entry_fields(entry: HistoryEntry, row: GraphRow) -> dict[str, Any]:
    return {
        "checkpoint": checkpoint_fields(entry.checkpoint),
        "column": row.column,
        "follows_seq": entry.follows.seq if entry.follows else None,
        "latest": entry.latest,
        "files_changed": entry.files_changed,
        "came_from": _origin_fields(entry.came_from) if entry.came_from else None,
    }


def _origin_fields(came_from: CameFrom) -> dict[str, Any]:
    operation, target = came_from.operation, came_from.target
    return {
        "kind": operation.kind,
        "operation_id": operation.operation_id,
        "checkpoint_id": target.checkpoint_id,
        "seq": target.seq,
        "label": target.label,
        "paths": list(operation.paths),
    }


def _plain_lines(history: History) -> Iterator[str]:
    rows = history.graph(max_columns=PLAIN_COLUMNS)
    width = graph_width(rows)
    digits = max((len(str(entry.checkpoint.seq)) for entry in history.entries), default=0)
    for entry, row in zip(history.entries, rows, strict=True):
        drawn = node_line(row, ASCII, plain_node(entry), width)
        yield f"{drawn}  {entry.checkpoint.seq:>{digits}}  {_plain_text(entry, row)}"
        if row.join or row.fades:
            yield link_line(row, ASCII, width).rstrip()
    if history.left_out.older:
        yield tail_line(rows, ASCII, width).rstrip()


def _plain_text(entry: HistoryEntry, row: GraphRow) -> str:
    checkpoint = entry.checkpoint
    marks = ", ".join(marks_of(entry, row))
    parts = (
        f"{timestamp(checkpoint.created_at)} ",
        f"{checkpoint.checkpoint_type:<12} ",
        f"{files_changed(entry):>8} ",
        f"[{checkpoint.label}]" if checkpoint.label else "",
        f"({marks})" if marks else "",
        subject_of(entry),
    )
    return safe(" ".join(filter(None, parts))).rstrip()
