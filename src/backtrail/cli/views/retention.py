"""Reports about what is pruned, deleted and kept, each with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrail.cli.render.report import Report
from backtrail.cli.render.text import ago, count, safe, size
from backtrail.domain.retention import KeepReason, Removed, RemoveReason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from backtrail.domain.retention import Kept, PruneResult


REASONS = {
    KeepReason.FIRST: "the first of the plan",
    KeepReason.LATEST: "the latest",
    KeepReason.PINNED: "pinned",
    KeepReason.LABELLED: "labelled",
    KeepReason.GREEN: "the newest green one",
    KeepReason.RECENT: "one of the newest",
    KeepReason.UNDO_REDO: "undo or redo needs it",
    KeepReason.OPERATION: "an operation under way needs it",
    KeepReason.STEP: "a pending step began there",
    KeepReason.RUN: "the active run needs it",
    KeepReason.DECISION: "before a decision that holds",
    KeepReason.WITHIN_LIMITS: "within the limits",
    RemoveReason.ASKED_FOR: "asked for",
    RemoveReason.BROKEN: "it could not be restored",
    RemoveReason.TOO_OLD: "too old",
    RemoveReason.SAME_FILES: "another one has the same files",
    RemoveReason.SUPERSEDED: "superseded",
    RemoveReason.SUPERSEDED_REVIVABLE: "superseded, though an undo or redo would revive it",
    RemoveReason.TOOL_LEVEL: "made for a tool call",
    RemoveReason.AUTOMATIC: "made for a run, a turn or a rollback",
    RemoveReason.OLDEST: "the oldest",
}
DRY_RUN = "Dry run: nothing was changed."


def pruned_report(result: PruneResult) -> Report:
    decision = result.decision
    fields = {
        **_head(result),
        "limit": decision.policy.max_checkpoints,
        "over_limit": decision.over_limit,
        "over_bytes": decision.over_bytes,
        "kept": [_entry_fields(entry) for entry in decision.kept],
        "removed": [_entry_fields(entry) for entry in decision.removed],
    }
    return Report(
        data={"prune": fields},
        plain=lambda: _plain(result, fields, (*decision.removed, *decision.kept)),
        rich=lambda verbose: _rich(
            result, (*decision.removed, *decision.kept) if verbose else decision.removed
        ),
        messages=_exceeded(result),
        # A dry run is asked for its words alone.
        silenced_by_quiet=not result.dry_run,
    )


def deleted_report(result: PruneResult) -> Report:
    removed = result.decision.removed
    fields = {**_head(result), "removed": [_entry_fields(entry) for entry in removed]}
    return Report(
        data={"delete": fields},
        plain=lambda: _plain(result, fields, removed),
        rich=lambda _: _rich(result, removed),
        silenced_by_quiet=not result.dry_run,
    )


def _head(result: PruneResult) -> dict[str, Any]:
    return {
        "plan": result.plan.name,
        "plan_id": result.plan.plan_id,
        "dry_run": result.dry_run,
    }


def _entry_fields(entry: Kept | Removed) -> dict[str, Any]:
    row = entry.checkpoint
    return {
        "seq": row.seq,
        "checkpoint_id": row.checkpoint_id,
        "checkpoint_type": row.checkpoint_type,
        "label": row.label,
        "size_bytes": row.size_bytes,
        "reason": entry.reason,
    }


def _exceeded(result: PruneResult) -> tuple[str, ...]:
    """What is over the limits only because it is protected."""
    decision, said = result.decision, list[str]()
    if decision.over_limit:
        number = count(decision.over_limit, "checkpoint")
        limit = decision.policy.max_checkpoints
        said.append(
            f"{number} more than the limit of {limit} stay: all that are left are protected"
        )
    if decision.over_bytes:
        said.append(f"{size(decision.over_bytes)} more than the limit stay for the same reason")
    return tuple(said)


def _plain(
    result: PruneResult, fields: dict[str, Any], entries: Sequence[Kept | Removed]
) -> Iterator[str]:
    for name, value in fields.items():
        if not isinstance(value, list):
            yield f"{name}: {yes_or_no(value)}"
    for entry in entries:
        word = "removed" if isinstance(entry, Removed) else "kept"
        row = entry.checkpoint
        yield "\t".join(
            (word, str(row.seq), row.checkpoint_id, row.checkpoint_type, str(entry.reason))
        )
    if result.dry_run:
        yield DRY_RUN


def yes_or_no(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else safe(value)


def _rich(result: PruneResult, entries: Sequence[Kept | Removed]) -> Iterator[RenderableType]:
    from backtrail.cli.render.look import line, text

    if entries:
        yield _table(entries)
    number = count(len(result.decision.removed), "checkpoint")
    did = "would be removed from" if result.dry_run else "removed from"
    kept = f", {len(result.decision.kept)} kept"
    name = (result.plan.name, "bold")
    mark = ("", "") if result.dry_run else ("✓ ", "green")
    yield line(mark, (number, "bold cyan"), (f" {did} plan ", ""), name, (kept, "dim"))
    if result.dry_run:
        yield text(DRY_RUN, "bold yellow")


def _table(entries: Sequence[Kept | Removed]) -> Table:
    from backtrail.cli.render.look import table, text

    def row(entry: Kept | Removed) -> list[RenderableType]:
        checkpoint = entry.checkpoint
        gone = isinstance(entry, Removed)
        return [
            text(checkpoint.seq, "bold cyan"),
            text(checkpoint.label or "", "magenta"),
            text(checkpoint.checkpoint_type),
            text(ago(checkpoint.created_at), "dim"),
            text(size(checkpoint.size_bytes), "dim"),
            text("removed" if gone else "kept", "red" if gone else "green"),
            text(REASONS[entry.reason]),
        ]

    return table(["#", "label", "type", "when", "size", "", "why"], map(row, entries))
