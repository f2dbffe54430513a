"""What was applied to which branch, or would be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.look import facts, panel, shortened, state, text
from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.shape import COMMIT, FLAG, ID, TEXT, listed, shape, words
from backtrail.cli.render.text import count, named, safe
from backtrail.cli.views.fields import FILE_CHANGE, PLAN
from backtrail.cli.views.plans import change_lines, change_texts
from backtrail.domain.plan import how_to_revert
from backtrail.domain.settings import ApplyStrategy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from backtrail.domain.plan import ApplyResult


APPLY = shape(
    plan=PLAN,
    applied=FLAG,
    dry_run=FLAG,
    onto=TEXT,
    strategy=words(ApplyStrategy),
    commit=COMMIT | None,
    previous_head=COMMIT | None,
    checkout=TEXT | None,
    safety_checkpoint=(ID | None).at("safety_checkpoint.checkpoint_id"),
    operation_id=ID | None,
    files=listed(FILE_CHANGE),
)


def apply_report(result: ApplyResult) -> Report:
    safety = result.safety_checkpoint
    return Report(
        data=APPLY.of(result),
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


def _plain_lines(result: ApplyResult) -> Iterator[str]:
    plan, safety = result.plan, result.safety_checkpoint
    yield from named(
        (
            ("plan", plan.name),
            ("applied", result.applied),
            ("dry_run", result.dry_run),
            ("onto", result.onto),
            ("strategy", result.strategy),
            ("commit", result.commit),
            ("previous_head", result.previous_head),
            ("checkout", result.checkout),
            ("safety_checkpoint", safety and f"{safety.seq} {safety.checkpoint_id}"),
            ("phase", plan.phase),
            ("state", plan.state),
            ("files", len(result.files)),
        )
    )
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
    end, safety = None if verbose else 12, result.safety_checkpoint
    rows = (
        ("Plan", text(result.plan.name, "bold")),
        ("Onto", text(result.onto, "bold")),
        ("Strategy", result.strategy),
        ("State", state(result.plan.state)),
        ("Commit", text(result.commit[:end], "bold cyan") if result.commit else None),
        ("Before", (result.previous_head or "no commit")[:end]),
        ("Checked out at", result.checkout),
        ("Safety checkpoint", safety and safety.seq),
    )
    title = f"Apply of plan {result.plan.name}" + (" (dry run)" if result.dry_run else "")
    yield panel(title, facts(rows), "green" if result.applied else "yellow")
    if result.files:
        lines, total = change_texts(result.files), len(result.files)
        yield panel(f"Files: {count(total, 'file')}", shortened(lines, total, verbose=verbose))
    yield text(_closing(result), "bold" if result.applied else "bold yellow")
