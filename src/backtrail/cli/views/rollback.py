"""The report of a rollback, an undo or a redo, and of their dry runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.text import ago, count, safe
from backtrail.cli.views.checkpoints import checkpoint_values
from backtrail.cli.views.fields import not_restored_fields, rollback_fields
from backtrail.domain.operation import OperationKind
from backtrail.domain.rollback import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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


def rollback_report(result: RollbackResult) -> Report:
    at = result.restored_checkpoint or result.target
    path = str(result.plan.sandbox.path)
    return Report(
        data=rollback_fields(result),
        plain=lambda: rollback_lines(result),
        rich=lambda verbose: rollback_panels(result, verbose=verbose),
        values={**checkpoint_values(at), Value.PATH: path},
        messages=result.messages,
        # A dry run is asked for its words alone.
        silenced_by_quiet=not result.dry_run,
    )


def rollback_lines(result: RollbackResult) -> Iterator[str]:
    yield f"operation: {result.kind}"
    yield f"dry_run: {'yes' if result.dry_run else 'no'}"
    yield f"plan: {result.plan.name}"
    yield f"checkpoint: {_plain_name(result.target)}"
    yield f"label: {safe(result.target.label or '-')}"
    yield f"files_reverted: {len(result.changes)}"
    yield f"safety_checkpoint: {_plain_name(result.safety_checkpoint)}"
    yield f"restored_checkpoint: {_plain_name(result.restored_checkpoint)}"
    yield f"verified: {'yes' if result.verified else 'no'}"
    yield f"proven: {', '.join(result.proven) or '-'}"
    yield from not_restored_lines(not_restored_fields(result.not_restored))
    yield from (f"path\t{safe(path)}" for path in result.paths)
    yield from (f"{c.action}\t{safe(c.file)}" for c in result.changes)
    yield from (f"left_alone\t{safe(p.file)}\t{safe(p.reason)}" for p in result.left_alone)
    yield from (f"gone_since\t{safe(p.file)}\t{safe(p.reason)}" for p in result.gone_since)
    impact = result.impact
    yield f"checkpoints_superseded: {impact.checkpoints_superseded}"
    yield f"decisions_after_cp: {impact.decisions_after_cp}"
    yield f"tool_calls_after_cp: {impact.tool_calls_after_cp}"
    yield f"runs_after_cp: {impact.runs_after_cp}"
    yield f"child_plans_invalidated: {impact.child_plans_invalidated}"
    yield f"steps_superseded: {impact.steps_superseded}"
    yield f"steps_pending_again: {impact.steps_pending_again}"
    yield f"sandbox: {safe(impact.sandbox)}"
    yield f"phase: {result.after.phase}"
    yield f"state: {result.after.state}"
    yield f"checkpoints_remaining: {result.after.checkpoints_remaining}"
    yield _closing(result)


def _plain_name(checkpoint: Checkpoint | None) -> str:
    return f"{checkpoint.seq} {checkpoint.checkpoint_id}" if checkpoint else "-"


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


def not_restored_lines(notes: Iterable[Mapping[str, str]]) -> Iterator[str]:
    return (f"not_restored\t{note['part']}\t{safe(note['reason'])}" for note in notes)


def rollback_panels(result: RollbackResult, *, verbose: bool) -> Iterator[RenderableType]:
    from backtrail.cli.render.look import text

    yield _summary(result, verbose=verbose)
    yield _changes(result, verbose=verbose)
    if result.left_alone:
        yield _left_alone(result, verbose=verbose)
    yield _impact(result)
    yield _afterwards(result)
    yield text(_closing(result), "bold yellow" if result.dry_run else "bold")


def _summary(result: RollbackResult, *, verbose: bool) -> Panel:
    from backtrail.cli.render.look import facts, panel, text

    title = f"{result.kind.capitalize()} of plan {result.plan.name}"
    rows: list[tuple[str, RenderableType]] = [
        ("Plan", text(result.plan.name, "bold")),
        ("Checkpoint", _named(result.target, verbose=verbose)),
        ("Files reverted", text(len(result.changes))),
    ]
    if not result.dry_run:
        rows += [
            ("Safety checkpoint", _named(result.safety_checkpoint, verbose=verbose)),
            ("Now at checkpoint", _named(result.restored_checkpoint, verbose=verbose)),
        ]
    rows.append(("Verified", _verified(result)))
    if result.paths:
        rows.insert(2, ("Only these paths", text("  ".join(result.paths))))
    if result.dry_run:
        return panel(f"{title} (dry run)", facts(rows), "yellow")
    return panel(title, facts(rows), "green")


def _verified(result: RollbackResult) -> RenderableType:
    from backtrail.cli.render.look import line, text

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
    from backtrail.cli.render.look import line, text

    if checkpoint is None:
        return text("none", "dim")
    label = f" {checkpoint.label}" if checkpoint.label else ""
    more = f"  {checkpoint.checkpoint_id}" if verbose else f"  {ago(checkpoint.created_at)}"
    return line((checkpoint.seq, "bold cyan"), (label, "magenta"), (more, "dim"))


def _changes(result: RollbackResult, *, verbose: bool) -> Panel:
    from backtrail.cli.render.look import file_line, panel, shortened, text

    title = "Changes to revert" if result.dry_run else "Changes reverted"
    if not result.changes:
        return panel(title, text("none: every file was as it should be", "dim"))
    lines, total = (file_line(c.action, c.file) for c in result.changes), len(result.changes)
    return panel(f"{title}: {count(total, 'file')}", shortened(lines, total, verbose=verbose))


def _left_alone(result: RollbackResult, *, verbose: bool) -> Panel:
    from backtrail.cli.render.look import line, panel, shortened

    total = len(result.left_alone)
    lines = (line((p.file, ""), (f"  {p.reason}", "dim")) for p in result.left_alone)
    return panel(f"Left alone: {count(total, 'path')}", shortened(lines, total, verbose=verbose))


def _impact(result: RollbackResult) -> Panel:
    from backtrail.cli.render.look import facts, panel, text

    impact = result.impact
    rows: list[tuple[str, RenderableType]] = [
        ("Checkpoints superseded", text(impact.checkpoints_superseded)),
        ("Decisions after it", text(impact.decisions_after_cp)),
        ("Tool calls after it", text(impact.tool_calls_after_cp)),
        ("Runs after it", text(impact.runs_after_cp)),
        ("Child plans invalidated", text(impact.child_plans_invalidated)),
        ("Steps superseded", text(impact.steps_superseded)),
        ("Steps pending again", text(impact.steps_pending_again)),
        ("Sandbox", text(impact.sandbox)),
    ]
    return panel("Impact", facts(rows))


def _afterwards(result: RollbackResult) -> Panel:
    from backtrail.cli.render.look import facts, panel, state, text

    rows: list[tuple[str, RenderableType]] = [
        ("Phase", text(result.after.phase)),
        ("State", state(result.after.state)),
        ("Checkpoints remaining", text(result.after.checkpoints_remaining)),
    ]
    return panel("State it would leave" if result.dry_run else "Post-rollback state", facts(rows))
