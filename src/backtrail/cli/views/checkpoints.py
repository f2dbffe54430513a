"""Reports about checkpoints."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.text import ago, safe, size, timestamp
from backtrail.cli.views.fields import checkpoint_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.plan import Plan


_NOT_CAPTURED, _HEAD = "not_captured", "head"
_BRIEF = ("seq", "checkpoint_id", "checkpoint_type", "sandbox_ref", "label")


def saved_report(plan: Plan, checkpoint: Checkpoint, said: str) -> Report:
    """A checkpoint that was just made or changed."""

    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import line

        yield line(("✓ ", "green"), (said, ""), (_name(checkpoint), "bold cyan"), *_of(plan))
        if verbose:
            yield _facts(checkpoint)

    return Report(
        data={"checkpoint": checkpoint_fields(checkpoint)},
        plain=lambda: _plain_lines(checkpoint, _BRIEF),
        rich=rich,
        values=checkpoint_values(checkpoint),
        silenced_by_quiet=True,
    )


def shown_report(checkpoint: Checkpoint) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import panel

        del verbose
        yield panel(f"Checkpoint {_name(checkpoint)}", _facts(checkpoint))

    return Report(
        data={"checkpoint": checkpoint_fields(checkpoint)},
        plain=lambda: _plain_lines(checkpoint, checkpoint_fields(checkpoint)),
        rich=rich,
        values=checkpoint_values(checkpoint),
    )


def listed_report(plan: Plan, checkpoints: Sequence[Checkpoint]) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import text

        if checkpoints:
            yield checkpoint_table(checkpoints, verbose=verbose)
        else:
            yield text(f"Plan {plan.name} has no checkpoints.", "dim")

    return Report(
        data={"checkpoints": [checkpoint_fields(c) for c in checkpoints]},
        plain=lambda: (_plain_row(c) for c in checkpoints),
        rich=rich,
    )


def checkpoint_values(checkpoint: Checkpoint | None) -> dict[Value, str | None]:
    if checkpoint is None:
        return {}
    return {
        Value.ID: checkpoint.checkpoint_id,
        Value.PATH: checkpoint.filesystem_path,
        Value.COMMIT: checkpoint.sandbox_ref,
    }


def checkpoint_table(checkpoints: Sequence[Checkpoint], *, verbose: bool) -> Table:
    from backtrail.cli.render.look import table

    names = ["#", "label", "type", "reason", "when", "size", ""]
    return table([*names, "id"] if verbose else names, [_rich_row(c, verbose) for c in checkpoints])


def _rich_row(checkpoint: Checkpoint, verbose: bool) -> list[Text]:
    from backtrail.cli.render.look import text

    # What has left the timeline, or cannot be restored, steps back from what can.
    faded = "" if checkpoint.live and checkpoint.restorable else "dim"
    row = [
        text(checkpoint.seq, faded or "bold cyan"),
        text(checkpoint.label or "", faded or "magenta"),
        text(checkpoint.checkpoint_type, faded),
        text(checkpoint.reason, faded),
        text(ago(checkpoint.created_at), "dim"),
        text(size(checkpoint.size_bytes), "dim"),
        text(", ".join(_marks(checkpoint)), faded or "green"),
    ]
    return [*row, text(checkpoint.checkpoint_id, "dim")] if verbose else row


def _marks(checkpoint: Checkpoint) -> Iterator[str]:
    if not checkpoint.restorable:
        yield checkpoint.state
    if not checkpoint.live:
        yield "superseded"
    if checkpoint.pinned:
        yield "pinned"
    if checkpoint.verified_green:
        yield "green"


def _plain_row(checkpoint: Checkpoint) -> str:
    return "\t".join(
        (
            str(checkpoint.seq),
            checkpoint.checkpoint_id,
            checkpoint.checkpoint_type,
            checkpoint.state,
            "live" if checkpoint.live else "superseded",
            timestamp(checkpoint.created_at),
            safe(checkpoint.label or "-"),
            safe(checkpoint.reason),
        )
    )


def _plain_lines(checkpoint: Checkpoint, names: Iterable[str]) -> Iterator[str]:
    fields = checkpoint_fields(checkpoint)
    metadata = cast("dict[str, Any]", fields.pop("metadata"))
    for name in names:
        if name in fields:
            yield f"{name}: {_plain_value(fields[name])}"
    for name, value in metadata.items():
        if name != _NOT_CAPTURED:
            yield f"metadata.{safe(name)}: {_plain_value(value)}"
    yield from (f"not_captured\t{file}" for file in _not_captured(checkpoint))


def _plain_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return timestamp(value)
    return "-" if value is None else safe(_readable(value))


def _readable(value: object) -> object:
    """Lists and maps as JSON has them, which more people read than Python's own form."""
    return json.dumps(value) if isinstance(value, (dict, list)) else value


def _head(value: object) -> object:
    """Where HEAD was, in words; whatever the metadata looks like."""
    if not isinstance(value, dict):
        return value
    known = cast("dict[str, object]", value)
    ref, commit = known.get("ref"), known.get("commit")
    place = str(ref).removeprefix("refs/heads/") if ref else "detached"
    return f"{place} at {commit}" if commit else f"{place}, without a commit"


def _facts(checkpoint: Checkpoint) -> Table:
    from backtrail.cli.render.look import facts, state, text

    moment = f"{ago(checkpoint.created_at)}, {timestamp(checkpoint.created_at)}"
    rows: list[tuple[str, RenderableType]] = [
        ("Id", text(checkpoint.checkpoint_id)),
        ("Commit", text(checkpoint.sandbox_ref or "none")),
        ("Type", text(checkpoint.checkpoint_type)),
        ("State", state(checkpoint.state)),
        ("Timeline", text("live" if checkpoint.live else "superseded")),
        ("Created", text(moment)),
        ("Added", text(size(checkpoint.size_bytes))),
        ("Sandbox", text(checkpoint.filesystem_path)),
    ]
    extra = {k: v for k, v in checkpoint.metadata.items() if v and k != _NOT_CAPTURED}
    told = {**extra, **({_HEAD: _head(extra[_HEAD])} if _HEAD in extra else {})}
    rows += [(safe(k).replace("_", " ").capitalize(), text(_readable(v))) for k, v in told.items()]
    rows += [("Not captured", text(file, "yellow")) for file in _not_captured(checkpoint)]
    return facts(rows)


def _name(checkpoint: Checkpoint) -> str:
    label = f" ({checkpoint.label})" if checkpoint.label else ""
    return f"{checkpoint.seq}{label}"


def _of(plan: Plan) -> tuple[tuple[str, str], ...]:
    return (" of plan ", "dim"), (plan.name, "bold")


def _not_captured(checkpoint: Checkpoint) -> list[str]:
    """One line per path that a checkpoint does not hold; whatever the metadata looks like."""
    entries: object = checkpoint.metadata.get(_NOT_CAPTURED)
    if not isinstance(entries, list):
        return []
    return [_not_captured_line(entry) for entry in cast("list[object]", entries)]


def _not_captured_line(entry: object) -> str:
    if not isinstance(entry, dict):
        return safe(entry)
    known = cast("dict[str, object]", entry)
    large = known.get("size")
    told = f", {size(large)}" if isinstance(large, int) else ""
    return f"{safe(known.get('path', '?'))} ({safe(known.get('reason', 'unknown'))}{told})"
