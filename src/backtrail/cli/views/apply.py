"""The report of an apply, and of its dry run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.text import count, safe
from backtrail.cli.views.fields import change_fields, plan_fields
from backtrail.cli.views.plans import change_lines, change_texts
from backtrail.domain.plan import how_to_revert

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from backtrail.domain.plan import ApplyResult


def apply_report(result: ApplyResult) -> Report:
    safety = result.safety_checkpoint
    return Report(
        data=_fields(result),
        plain=lambda: _plain_lines(result),
        rich=lambda verbose: _rich(result, verbose=verbose),
        values={
            Value.ID: safety.checkpoint_id if safety else None,
            Value.PATH: str(result.checkout) if result.checkout else None,
            Value.COMMIT: result.commit,
        },
        messages=result.messages,
        silenced_by_quiet=not result.dry_run,
    )


def _fields(result: ApplyResult) -> dict[str, Any]:
    safety = result.safety_checkpoint
    return {
        "plan": plan_fields(result.plan),
        "applied": result.applied,
        "dry_run": result.dry_run,
        "onto": result.onto,
        "strategy": result.strategy,
        "commit": result.commit,
        "previous_head": result.previous_head,
        "checkout": str(result.checkout) if result.checkout else None,
        "safety_checkpoint": safety.checkpoint_id if safety else None,
        "operation_id": result.operation_id,
        "files": change_fields(result.files),
    }


def _plain_lines(result: ApplyResult) -> Iterator[str]:
    yield f"plan: {result.plan.name}"
    yield f"applied: {'yes' if result.applied else 'no'}"
    yield f"dry_run: {'yes' if result.dry_run else 'no'}"
    yield f"onto: {safe(result.onto)}"
    yield f"strategy: {result.strategy}"
    yield f"commit: {result.commit or '-'}"
    yield f"previous_head: {result.previous_head or '-'}"
    yield f"checkout: {safe(result.checkout or '-')}"
    safety = result.safety_checkpoint
    yield f"safety_checkpoint: {f'{safety.seq} {safety.checkpoint_id}' if safety else '-'}"
    yield f"phase: {result.plan.phase}"
    yield f"state: {result.plan.state}"
    yield f"files: {len(result.files)}"
    yield from change_lines(result.files)
    yield _closing(result)


def _closing(result: ApplyResult) -> str:
    """The last line: what it means, and how to take it back."""
    if result.dry_run:
        return "Dry run: nothing was changed."
    if result.commit is None:
        return f"Nothing to apply: {safe(result.onto)} has all of it already."
    revert = how_to_revert(result.strategy, result.commit[:12], (result.previous_head or "")[:12])
    return f"Changed your mind? {revert} takes it back."


def _rich(result: ApplyResult, *, verbose: bool) -> Iterator[RenderableType]:
    from backtrail.cli.render.look import facts, panel, shortened, state, text

    rows: list[tuple[str, RenderableType]] = [
        ("Plan", text(result.plan.name, "bold")),
        ("Onto", text(result.onto, "bold")),
        ("Strategy", text(result.strategy)),
        ("State", state(result.plan.state)),
    ]
    end = None if verbose else 12
    if result.commit:
        rows.append(("Commit", text(result.commit[:end], "bold cyan")))
    rows.append(("Before", text((result.previous_head or "no commit")[:end])))
    if result.checkout:
        rows.append(("Checked out at", text(result.checkout)))
    if result.safety_checkpoint:
        rows.append(("Safety checkpoint", text(result.safety_checkpoint.seq)))
    title = f"Apply of plan {result.plan.name}" + (" (dry run)" if result.dry_run else "")
    yield panel(title, facts(rows), "green" if result.applied else "yellow")
    if result.files:
        lines, total = change_texts(result.files), len(result.files)
        yield panel(f"Files: {count(total, 'file')}", shortened(lines, total, verbose=verbose))
    yield text(_closing(result), "bold" if result.applied else "bold yellow")
