"""Plans: one that was made, how one stands, and many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.look import facts, file_line, line, panel, shortened, state, table, text
from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.shape import COUNT, FLAG, ID, MOMENT, TEXT, itself, listed, shape
from backtrail.cli.render.text import ago, columns, count, named, plain, safe, size
from backtrail.cli.views.checkpoints import checkpoint_values
from backtrail.cli.views.fields import (
    CHECKPOINT,
    DECISION,
    FILE_CHANGE,
    ORIGIN,
    PLAN,
    ROLLBACK_POLICY,
    RUN,
)
from backtrail.cli.views.runs import run_words
from backtrail.domain.checkpoint import CheckpointState
from backtrail.domain.plan import PlanState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.text import Text

    from backtrail.domain.checkpoint import Checkpoint, Origin
    from backtrail.domain.plan import Plan, PlanSummary
    from backtrail.domain.rollback import CreatedPlan, FileChange, PlanStatus


CREATED = shape(plan=PLAN, checkpoint=CHECKPOINT, created=FLAG, copied=listed(TEXT))
STATUS = shape(
    plan=PLAN,
    latest=CHECKPOINT | None,
    changes=listed(FILE_CHANGE),
    problem=TEXT | None,
    hint=TEXT | None,
    counts=shape(**dict.fromkeys([*CheckpointState, "live", "superseded"], COUNT)),
    parent=TEXT | None,
    forked_from=ORIGIN | None,
    undoable=COUNT,
    redoable=COUNT,
    run=RUN | None,
    rollback_policy=ROLLBACK_POLICY,
    current_decision=DECISION | None,
    revertible=listed(TEXT.at("decision.number")),
    tool_calls_since_latest=COUNT,
)
PATH = shape(plan=TEXT.at("name"), plan_id=ID, path=TEXT.at("sandbox.path"))
PLANS = shape(
    plans=listed(
        shape(
            "plan_summary",
            **PLAN.within("plan", nullable=False),
            active_at=MOMENT,
            checkpoints=COUNT,
            size_bytes=COUNT,
            changed_files=COUNT | None,
            sandbox_present=FLAG.at("present"),
        )
    ).at(itself)
)


def created_report(result: CreatedPlan) -> Report:
    plan, checkpoint = result.plan, result.checkpoint

    def rich(verbose: bool) -> Iterator[RenderableType]:
        title = "Plan created" if result.created else "Plan found in place"
        rows = (
            *_plan_facts(plan, verbose=verbose),
            ("Checkpoint", checkpoint.seq),
            ("Forked from", _origin(checkpoint.forked_from)),
            ("Brought along", ", ".join(result.copied) or None),
        )
        yield panel(title, facts(rows), "green" if result.created else "cyan")
        yield line(("Work there with ", "dim"), (f'cd "$(plan path {plan.name})"', "bold"))

    return Report(
        data=CREATED.of(result),
        plain=lambda: _created_lines(result),
        rich=rich,
        values=_plan_values(plan, checkpoint),
        messages=result.messages,
        silenced_by_quiet=True,
    )


def _created_lines(result: CreatedPlan) -> Iterator[str]:
    checkpoint = result.checkpoint
    yield from named(
        (
            *_plan_lines(result.plan),
            ("checkpoint", checkpoint.seq),
            ("checkpoint_id", checkpoint.checkpoint_id),
            ("created", result.created),
        )
    )
    if checkpoint.forked_from:
        yield f"forked_from: {_origin(checkpoint.forked_from)}"
    yield from (columns("copied", path) for path in result.copied)


def _origin(origin: Origin | None) -> str | None:
    return origin and f"{safe(origin.plan)}, checkpoint {safe(origin.seq)}"


def status_report(status: PlanStatus, exit_code: int) -> Report:
    return Report(
        data=STATUS.of(status),
        plain=lambda: _status_lines(status),
        rich=lambda verbose: _status_rich(status, verbose=verbose),
        values=_plan_values(status.plan, status.latest),
        exit_code=exit_code,
    )


def _status_lines(status: PlanStatus) -> Iterator[str]:
    latest, origin = status.latest, _origin(status.forked_from)
    yield from named(
        (
            *_plan_lines(status.plan),
            *((("parent", status.parent),) if status.parent else ()),
            *((("forked_from", origin),) if origin else ()),
            ("latest", latest and latest.seq),
            ("latest_id", latest and latest.checkpoint_id),
            *((safe(name), number) for name, number in status.counts.items()),
            ("undoable", status.undoable),
            ("redoable", status.redoable),
            ("run", run_words(status.run)),
            ("rollback", _policy_words(status)),
            ("decision", _decision_words(status)),
            ("revertible", _revertible_words(status)),
            ("tool_calls_since_latest", status.tool_calls_since_latest),
        )
    )
    if status.problem:
        yield from named((("problem", status.problem), ("hint", status.hint)))
        return
    yield f"changed: {len(status.changes)}"
    yield from change_lines(status.changes)


def _status_rich(status: PlanStatus, *, verbose: bool) -> Iterator[RenderableType]:
    decision = status.current_decision
    ways = f"{count(status.undoable, 'step')} back, {status.redoable} forward"
    rows = (
        *_plan_facts(status.plan, verbose=verbose),
        ("Latest", _latest(status.latest)),
        ("Child of", status.parent),
        ("Forked from", _origin(status.forked_from)),
        # A person wants to know what there is, not what there is none of.
        *((name.capitalize(), number or None) for name, number in status.counts.items()),
        ("Run", text(run_words(status.run), "yellow") if status.run else None),
        ("Decision", decision and _decision_words(status)),
        ("Can be reverted", decision and _revertible_words(status)),
        ("Tool calls since", status.tool_calls_since_latest or None),
        ("Rollback", _policy_words(status)),
        ("Undo, redo", ways),
    )
    yield panel(f"Plan {status.plan.name}", facts(rows))
    if status.problem:
        hint = f"\n{safe(status.hint)}" if status.hint else ""
        yield panel("Problem", text(status.problem, "red").append(hint, "dim"), "red")
    elif status.changes:
        title = f"{count(len(status.changes), 'file')} changed since the latest checkpoint"
        lines = change_texts(status.changes)
        yield panel(title, shortened(lines, len(status.changes), verbose=verbose), "yellow")
    else:
        yield text("Nothing has changed since the latest checkpoint.", "green")


def _decision_words(status: PlanStatus) -> str:
    current = status.current_decision
    return f"{current.decision.number} {safe(current.decision.text)}" if current else "-"


def _revertible_words(status: PlanStatus) -> str:
    return " ".join(entry.decision.number for entry in status.revertible) or "-"


def _policy_words(status: PlanStatus) -> str:
    policy = status.rollback_policy
    if not policy.allowed:
        return "not allowed"
    return "asks first" if policy.require_confirmation else "does not ask"


def path_report(plan: Plan) -> Report:
    path = str(plan.sandbox.path)
    return Report(
        data=PATH.of(plan),
        plain=lambda: [safe(path)],
        raw=f"{path}\n",
    )


def change_lines(changes: Sequence[FileChange]) -> Iterator[str]:
    """Action, file, lines added and removed; `-` where lines cannot be counted."""
    return (columns(c.action, c.file, c.added, c.removed) for c in changes)


def change_texts(changes: Sequence[FileChange]) -> Iterator[Text]:
    return (file_line(c.action, c.file, *_line_counts(c)) for c in changes)


def _line_counts(change: FileChange) -> tuple[tuple[str, str], ...]:
    if change.added is None or change.removed is None:
        return (("  binary", "dim"),)
    return (f"  +{change.added}", "green"), (f" -{change.removed}", "red")


def _plan_values(plan: Plan, checkpoint: Checkpoint | None) -> dict[Value, str | None]:
    path = str(plan.sandbox.path)
    return {**checkpoint_values(checkpoint), Value.ID: plan.plan_id, Value.PATH: path}


def _plan_lines(plan: Plan) -> Iterator[tuple[str, object]]:
    yield "plan", plan.name
    yield "plan_id", plan.plan_id
    yield "phase", plan.phase
    yield "state", plan.state
    yield "sandbox", plan.sandbox.path
    yield "branch", plan.sandbox.branch
    yield "base_commit", plan.sandbox.base_commit


def _plan_facts(plan: Plan, *, verbose: bool) -> Iterator[tuple[str, object]]:
    yield "Plan", text(plan.name, "bold")
    yield "Phase", plan.phase
    yield "State", state(plan.state)
    yield "Sandbox", plan.sandbox.path
    yield "Branch", plan.sandbox.branch or "none"
    yield "Base", (plan.sandbox.base_commit or "none")[: None if verbose else 12]
    yield "Id", plan.plan_id if verbose else None


def _latest(checkpoint: Checkpoint | None) -> RenderableType:
    if checkpoint is None:
        return text("none", "dim")
    label = f" {checkpoint.label}" if checkpoint.label else ""
    when = f"  {checkpoint.checkpoint_type}, {ago(checkpoint.created_at)}"
    return line((checkpoint.seq, "bold cyan"), (label, "magenta"), (when, "dim"))


def plans_report(plans: Sequence[PlanSummary], *, changes: bool = False) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        if not plans:
            yield text("There are no plans here; plan create NAME makes one.", "dim")
            return
        names = ["plan", "phase", "state", "active", "checkpoints", "size"]
        names += ["changed"] if changes else []
        names += ["sandbox", "id"] if verbose else ["sandbox"]
        yield table(names, [_rich_row(p, changes=changes, verbose=verbose) for p in plans])

    return Report(
        data=PLANS.of(plans),
        plain=lambda: map(_plain_row, plans),
        rich=rich,
    )


def _plain_row(summary: PlanSummary) -> str:
    plan = summary.plan
    return columns(
        plan.name,
        plan.plan_id,
        plan.phase,
        plan.state,
        plan.sandbox.path,
        summary.active_at,
        summary.checkpoints,
        summary.size_bytes,
        summary.changed_files,
    )


def _rich_row(summary: PlanSummary, *, changes: bool, verbose: bool) -> list[Text]:
    plan = summary.plan
    lost = not summary.present and plan.state is not PlanState.REMOVED
    place = line((plan.sandbox.path, ""), (" missing", "bold red") if lost else ("", ""))
    row = [
        text(plan.name, "bold"),
        text(plan.phase),
        state(plan.state),
        text(ago(summary.active_at), "dim"),
        text(summary.checkpoints),
        text(size(summary.size_bytes), "dim"),
    ]
    row += [text(plain(summary.changed_files), "yellow")] if changes else []
    return [*row, place, text(plan.plan_id, "dim")] if verbose else [*row, place]
