"""A rollback, an undo or a redo, and their dry runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.look import facts, file_line, line, panel, shortened, state, text
from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.text import ago, columns, count, named
from backtrail.cli.views.checkpoints import checkpoint_values
from backtrail.cli.views.fields import ROLLBACK
from backtrail.domain.operation import OperationKind
from backtrail.domain.rollback import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType
    from rich.panel import Panel

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.rollback import NotRestored, RollbackResult


_IN_WORDS = {
    Part.FILES: "files",
    Part.INDEX: "index",
    Part.HEAD: "HEAD",
    Part.UNDER_WAY: "what was under way",
}


_IMPACT = {
    "checkpoints_superseded": "Checkpoints superseded",
    "decisions_after_cp": "Decisions after it",
    "tool_calls_after_cp": "Tool calls after it",
    "runs_after_cp": "Runs after it",
    "child_plans_invalidated": "Child plans invalidated",
    "steps_superseded": "Steps superseded",
    "steps_pending_again": "Steps pending again",
    "sandbox": "Sandbox",
}


def rollback_report(result: RollbackResult) -> Report:
    at = result.restored_checkpoint or result.target
    path = str(result.plan.sandbox.path)
    return Report(
        data=ROLLBACK.of(result),
        plain=lambda: rollback_lines(result),
        rich=lambda verbose: rollback_panels(result, verbose=verbose),
        values={**checkpoint_values(at), Value.PATH: path},
        messages=result.messages,
        # A dry run is asked for its words alone.
        silenced_by_quiet=not result.dry_run,
    )


def rollback_lines(result: RollbackResult) -> Iterator[str]:
    impact, after = result.impact, result.after
    yield from named(
        (
            ("operation", result.kind),
            ("dry_run", result.dry_run),
            ("plan", result.plan.name),
            ("checkpoint", _plain_name(result.target)),
            ("label", result.target.label),
            ("files_reverted", len(result.changes)),
            ("safety_checkpoint", _plain_name(result.safety_checkpoint)),
            ("restored_checkpoint", _plain_name(result.restored_checkpoint)),
            ("verified", result.verified),
            ("proven", ", ".join(result.proven) or None),
        )
    )
    yield from not_restored_lines(result.not_restored)
    yield from (columns("path", path) for path in result.paths)
    yield from (columns(c.action, c.file) for c in result.changes)
    yield from (columns("left_alone", p.file, p.reason) for p in result.left_alone)
    yield from (columns("gone_since", p.file, p.reason) for p in result.gone_since)
    yield from named((name, getattr(impact, name)) for name in _IMPACT)
    yield from named(
        (
            ("phase", after.phase),
            ("state", after.state),
            ("checkpoints_remaining", after.checkpoints_remaining),
        )
    )
    yield _closing(result)


def _plain_name(checkpoint: Checkpoint | None) -> str | None:
    return f"{checkpoint.seq} {checkpoint.checkpoint_id}" if checkpoint else None


def _closing(result: RollbackResult) -> str:
    """The last line: what is not as it was, and how to take all of it back."""
    name, missing = result.plan.name, not_restored_in_words(result.not_restored)
    if result.dry_run:
        return f"Dry run: nothing was changed.{missing and f' It would not bring back {missing}.'}"
    back = f"Changed your mind? plan undo {name} brings everything back."
    if result.kind is OperationKind.UNDO:
        back = f"plan redo {name} takes this undo back."
    return f"Not brought back: {missing}. {back}" if missing else back


def not_restored_in_words(notes: Iterable[NotRestored]) -> str:
    return " and ".join(_IN_WORDS[note.part] for note in notes)


def not_restored_lines(notes: Iterable[NotRestored]) -> Iterator[str]:
    return (columns("not_restored", note.part, note.reason) for note in notes)


def rollback_panels(result: RollbackResult, *, verbose: bool) -> Iterator[RenderableType]:
    yield _summary(result, verbose=verbose)
    yield _changes(result, verbose=verbose)
    if result.left_alone:
        yield _left_alone(result, verbose=verbose)
    yield _impact(result)
    yield _afterwards(result)
    yield text(_closing(result), "bold yellow" if result.dry_run else "bold")


def _summary(result: RollbackResult, *, verbose: bool) -> Panel:
    title = f"{result.kind.capitalize()} of plan {result.plan.name}"
    safety, restored = result.safety_checkpoint, result.restored_checkpoint
    rows = (
        ("Plan", text(result.plan.name, "bold")),
        ("Checkpoint", _named(result.target, verbose=verbose)),
        ("Only these paths", "  ".join(result.paths) or None),
        ("Files reverted", len(result.changes)),
        ("Safety checkpoint", None if result.dry_run else _named(safety, verbose=verbose)),
        ("Now at checkpoint", None if result.dry_run else _named(restored, verbose=verbose)),
        ("Verified", _verified(result)),
    )
    if result.dry_run:
        return panel(f"{title} (dry run)", facts(rows), "yellow")
    return panel(title, facts(rows), "green")


def _verified(result: RollbackResult) -> RenderableType:
    if result.dry_run:
        return text("not yet: this is a dry run", "dim")
    if not result.verified:
        return text("no", "bold red")
    if result.paths:
        return text("✓ a second look found these paths exact", "green")
    if not result.not_restored:
        return text("✓ a second look found it exact", "green")
    exact = ", ".join(_IN_WORDS[part] for part in result.proven)
    return line(
        (f"✓ a second look found {exact} exact", "green"),
        (f"; not brought back: {not_restored_in_words(result.not_restored)}", "bold yellow"),
    )


def _named(checkpoint: Checkpoint | None, *, verbose: bool) -> RenderableType:
    if checkpoint is None:
        return text("none", "dim")
    label = f" {checkpoint.label}" if checkpoint.label else ""
    more = f"  {checkpoint.checkpoint_id}" if verbose else f"  {ago(checkpoint.created_at)}"
    return line((checkpoint.seq, "bold cyan"), (label, "magenta"), (more, "dim"))


def _changes(result: RollbackResult, *, verbose: bool) -> Panel:
    title = "Changes to revert" if result.dry_run else "Changes reverted"
    if not result.changes:
        return panel(title, text("none: every file was as it should be", "dim"))
    lines, total = (file_line(c.action, c.file) for c in result.changes), len(result.changes)
    return panel(f"{title}: {count(total, 'file')}", shortened(lines, total, verbose=verbose))


def _left_alone(result: RollbackResult, *, verbose: bool) -> Panel:
    total = len(result.left_alone)
    lines = (line((p.file, ""), (f"  {p.reason}", "dim")) for p in result.left_alone)
    return panel(f"Left alone: {count(total, 'path')}", shortened(lines, total, verbose=verbose))


def _impact(result: RollbackResult) -> Panel:
    rows = ((title, getattr(result.impact, name)) for name, title in _IMPACT.items())
    return panel("Impact", facts(rows))


def _afterwards(result: RollbackResult) -> Panel:
    rows = (
        ("Phase", result.after.phase),
        ("State", state(result.after.state)),
        ("Checkpoints remaining", result.after.checkpoints_remaining),
    )
    return panel("State it would leave" if result.dry_run else "Post-rollback state", facts(rows))
