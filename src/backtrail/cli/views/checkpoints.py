"""Checkpoints: one, many, and those that were taken elsewhere as a branch or an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from backtrail.cli.render.look import facts, line, panel, state, table, text
from backtrail.cli.render.report import Report, Value, listing
from backtrail.cli.render.shape import COMMIT, COUNT, ID, ORDINAL, TEXT, itself, listed, shape
from backtrail.cli.render.text import ago, columns, count, named, plain, readable, safe, size
from backtrail.cli.views.fields import CHECKPOINT, OF_A_PLAN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.plan import BranchResult, ExportResult, Plan


ONE_CHECKPOINT = shape(checkpoint=CHECKPOINT.at(itself))
CHECKPOINTS = shape(checkpoints=listed(CHECKPOINT).at(itself))
_OF_A_CHECKPOINT = {
    **OF_A_PLAN,
    "checkpoint": ID.at("checkpoint.checkpoint_id"),
    "checkpoint_seq": ORDINAL.at("checkpoint.seq"),
}
BRANCH = shape(branch=shape(**_OF_A_CHECKPOINT, branch=TEXT, commit=COMMIT).at(itself))
EXPORT = shape(
    export=shape(**_OF_A_CHECKPOINT, path=TEXT, files=COUNT, ignored_left_out=COUNT).at(itself)
)
_NOT_CAPTURED, _HEAD = "not_captured", "head"
_TITLES = ("#", "label", "type", "reason", "when", "size", "")
_BRIEF = ("seq", "checkpoint_id", "checkpoint_type", "sandbox_ref", "label")


def saved_report(plan: Plan, checkpoint: Checkpoint, said: str) -> Report:
    """A checkpoint that was just made or changed."""

    def rich(verbose: bool) -> Iterator[RenderableType]:
        yield line(("✓ ", "green"), (said, ""), (_name(checkpoint), "bold cyan"), *_of(plan))
        if verbose:
            yield _facts(checkpoint)

    return Report(
        data=ONE_CHECKPOINT.of(checkpoint),
        plain=lambda: _plain_lines(checkpoint, _BRIEF),
        rich=rich,
        values=checkpoint_values(checkpoint),
        silenced_by_quiet=True,
    )


def shown_report(checkpoint: Checkpoint) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        del verbose
        yield panel(f"Checkpoint {_name(checkpoint)}", _facts(checkpoint))

    return Report(
        data=ONE_CHECKPOINT.of(checkpoint),
        plain=lambda: _plain_lines(checkpoint, CHECKPOINT.fields),
        rich=rich,
        values=checkpoint_values(checkpoint),
    )


def listed_report(plan: Plan, checkpoints: Sequence[Checkpoint]) -> Report:
    return listing(
        CHECKPOINTS.of(checkpoints),
        checkpoints,
        line=_plain_row,
        row=_rich_row,
        titles=_TITLES,
        more=("id",),
        none=f"Plan {plan.name} has no checkpoints.",
    )


def checkpoint_values(checkpoint: Checkpoint | None) -> dict[Value, str | None]:
    if checkpoint is None:
        return {}
    return {
        Value.ID: checkpoint.checkpoint_id,
        Value.PATH: checkpoint.filesystem_path,
        Value.COMMIT: checkpoint.sandbox_ref,
    }


def checkpoint_table(checkpoints: Sequence[Checkpoint]) -> Table:
    """What a person chooses from."""
    return table(_TITLES, [_rich_row(c)[:-1] for c in checkpoints])


def _rich_row(checkpoint: Checkpoint) -> list[Text]:
    # What has left the timeline, or cannot be restored, steps back from what can.
    faded = "" if checkpoint.live and checkpoint.restorable else "dim"
    return [
        text(checkpoint.seq, faded or "bold cyan"),
        text(checkpoint.label or "", faded or "magenta"),
        text(checkpoint.checkpoint_type, faded),
        text(checkpoint.reason, faded),
        text(ago(checkpoint.created_at), "dim"),
        text(size(checkpoint.size_bytes), "dim"),
        text(", ".join(_marks(checkpoint)), faded or "green"),
        text(checkpoint.checkpoint_id, "dim"),
    ]


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
    return columns(
        checkpoint.seq,
        checkpoint.checkpoint_id,
        checkpoint.checkpoint_type,
        checkpoint.state,
        "live" if checkpoint.live else "superseded",
        checkpoint.created_at,
        checkpoint.label or "-",
        checkpoint.reason,
    )


def _plain_lines(checkpoint: Checkpoint, names: Iterable[str]) -> Iterator[str]:
    fields = CHECKPOINT.of(checkpoint)
    metadata = fields.pop("metadata")
    yield from named((name, fields[name]) for name in names if name in fields)
    yield from named(
        (f"metadata.{safe(name)}", value)
        for name, value in metadata.items()
        if name != _NOT_CAPTURED
    )
    yield from (f"not_captured\t{file}" for file in _not_captured(checkpoint))


def _head(value: object) -> object:
    """Where HEAD was, in words; whatever the metadata looks like."""
    if not isinstance(value, dict):
        return value
    known = cast("dict[str, object]", value)
    ref, commit = known.get("ref"), known.get("commit")
    place = str(ref).removeprefix("refs/heads/") if ref else "detached"
    return f"{place} at {commit}" if commit else f"{place}, without a commit"


def _facts(checkpoint: Checkpoint) -> Table:
    moment = f"{ago(checkpoint.created_at)}, {plain(checkpoint.created_at)}"
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
    rows += [(safe(k).replace("_", " ").capitalize(), text(readable(v))) for k, v in told.items()]
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


def branched_report(result: BranchResult) -> Report:
    plan, checkpoint = result.plan, result.checkpoint
    data = BRANCH.of(result)

    def rich(_: bool) -> Iterator[RenderableType]:
        yield line(
            ("✓ ", "green"),
            ("Branch ", ""),
            (result.branch, "bold"),
            (f" is checkpoint {checkpoint.seq} of plan ", ""),
            (plan.name, "bold"),
            (f"  {result.commit[:12]}", "dim"),
        )

    return Report(
        data=data,
        plain=lambda: named(data["branch"].items()),
        rich=rich,
        values={Value.ID: checkpoint.checkpoint_id, Value.COMMIT: result.commit},
        silenced_by_quiet=True,
    )


def exported_report(result: ExportResult) -> Report:
    plan, checkpoint = result.plan, result.checkpoint
    data = EXPORT.of(result)

    def rich(_: bool) -> Iterator[RenderableType]:
        yield line(
            ("✓ ", "green"),
            (count(result.files, "file"), "bold cyan"),
            (f" of checkpoint {checkpoint.seq} of plan ", ""),
            (plan.name, "bold"),
            (" in ", ""),
            (result.path, "bold"),
        )

    left = count(result.ignored_left_out, "captured ignored file")
    said = (f"{left} left out; --with-ignored exports them, too",)
    return Report(
        data=data,
        plain=lambda: named(data["export"].items()),
        rich=rich,
        values={Value.ID: checkpoint.checkpoint_id, Value.PATH: str(result.path)},
        messages=said if result.ignored_left_out else (),
        silenced_by_quiet=True,
    )
