"""Reports about plans, one or many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.text import ago, count, safe, size, timestamp
from backtrail.cli.views.checkpoints import checkpoint_values
from backtrail.cli.views.fields import checkpoint_fields, plan_fields, status_fields
from backtrail.cli.views.runs import run_words
from backtrail.domain.plan import PlanState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.text import Text

    from backtrail.domain.checkpoint import Checkpoint, Origin
    from backtrail.domain.plan import Plan, PlanSummary
    from backtrail.domain.rollback import CreatedPlan, FileChange, PlanStatus


def created_report(result: CreatedPlan) -> Report:
    plan, checkpoint = result.plan, result.checkpoint

    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import facts, line, panel, text

        title = "Plan created" if result.created else "Plan found in place"
        rows = [*_plan_facts(plan, verbose=verbose), ("Checkpoint", text(checkpoint.seq))]
        if checkpoint.forked_from:
            rows.append(("Forked from", text(origin_text(checkpoint.forked_from))))
        if result.copied:
            rows.append(("Brought along", text(", ".join(result.copied))))
        yield panel(title, facts(rows), "green" if result.created else "cyan")
        yield line(("Work there with ", "dim"), (f'cd "$(plan path {plan.name})"', "bold"))

    return Report(
        data={
            "plan": plan_fields(plan),
            "checkpoint": checkpoint_fields(checkpoint),
            "created": result.created,
            "copied": list(result.copied),
        },
        plain=lambda: _created_lines(result),
        rich=rich,
        values=_plan_values(plan, checkpoint),
        messages=result.messages,
        silenced_by_quiet=True,
    )


def _created_lines(result: CreatedPlan) -> Iterator[str]:
    yield from _plan_lines(result.plan)
    yield f"checkpoint: {result.checkpoint.seq}"
    yield f"checkpoint_id: {result.checkpoint.checkpoint_id}"
    yield f"created: {'yes' if result.created else 'no'}"
    if result.checkpoint.forked_from:
        yield f"forked_from: {origin_text(result.checkpoint.forked_from)}"
    yield from (f"copied\t{safe(path)}" for path in result.copied)


def origin_text(origin: Origin) -> str:
    return f"{safe(origin.plan)}, checkpoint {safe(origin.seq)}"


def status_report(status: PlanStatus, exit_code: int) -> Report:
    return Report(
        data=status_fields(status),
        plain=lambda: _status_lines(status),
        rich=lambda verbose: _status_rich(status, verbose=verbose),
        values=_plan_values(status.plan, status.latest),
        exit_code=exit_code,
    )


def _status_lines(status: PlanStatus) -> Iterator[str]:
    yield from _plan_lines(status.plan)
    if status.parent:
        yield f"parent: {safe(status.parent)}"
    if status.forked_from:
        yield f"forked_from: {origin_text(status.forked_from)}"
    yield f"latest: {status.latest.seq if status.latest else '-'}"
    yield f"latest_id: {status.latest.checkpoint_id if status.latest else '-'}"
    for name, number in status.counts.items():
        yield f"{safe(name)}: {number}"
    yield f"undoable: {status.undoable}"
    yield f"redoable: {status.redoable}"
    yield f"run: {run_words(status.run)}"
    yield f"rollback: {_policy_words(status)}"
    yield f"decision: {_decision_words(status)}"
    yield f"revertible: {_revertible_words(status)}"
    yield f"tool_calls_since_latest: {status.tool_calls_since_latest}"
    if status.problem:
        yield f"problem: {safe(status.problem)}"
        yield f"hint: {safe(status.hint or '-')}"
        return
    yield f"changed: {len(status.changes)}"
    yield from change_lines(status.changes)


def _status_rich(status: PlanStatus, *, verbose: bool) -> Iterator[RenderableType]:
    from backtrail.cli.render.look import facts, panel, shortened, text

    rows = [*_plan_facts(status.plan, verbose=verbose), ("Latest", _latest(status.latest))]
    if status.parent:
        rows.append(("Child of", text(status.parent)))
    if status.forked_from:
        rows.append(("Forked from", text(origin_text(status.forked_from))))
    # A person wants to know what there is, not what there is none of.
    rows += [(name.capitalize(), text(n)) for name, n in status.counts.items() if n]
    if status.run:
        rows.append(("Run", text(run_words(status.run), "yellow")))
    if status.current_decision:
        rows.append(("Decision", text(_decision_words(status))))
        rows.append(("Can be reverted", text(_revertible_words(status))))
    if status.tool_calls_since_latest:
        rows.append(("Tool calls since", text(status.tool_calls_since_latest)))
    rows.append(("Rollback", text(_policy_words(status))))
    ways = f"{count(status.undoable, 'step')} back, {status.redoable} forward"
    yield panel(f"Plan {status.plan.name}", facts([*rows, ("Undo, redo", text(ways))]))
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
        data={"plan": plan.name, "plan_id": plan.plan_id, "path": path},
        plain=lambda: [safe(path)],
        raw=f"{path}\n",
    )


def change_lines(changes: Sequence[FileChange]) -> Iterator[str]:
    """Action, file, lines added and removed; `-` where lines cannot be counted."""
    for c in changes:
        added, removed = ("-" if n is None else str(n) for n in (c.added, c.removed))
        yield "\t".join((c.action, safe(c.file), added, removed))


def change_texts(changes: Sequence[FileChange]) -> Iterator[Text]:
    from backtrail.cli.render.look import file_line

    return (file_line(c.action, c.file, *_line_counts(c)) for c in changes)


def _line_counts(change: FileChange) -> tuple[tuple[str, str], ...]:
    if change.added is None or change.removed is None:
        return (("  binary", "dim"),)
    return (f"  +{change.added}", "green"), (f" -{change.removed}", "red")


def _plan_values(plan: Plan, checkpoint: Checkpoint | None) -> dict[Value, str | None]:
    path = str(plan.sandbox.path)
    return {**checkpoint_values(checkpoint), Value.ID: plan.plan_id, Value.PATH: path}


def _plan_lines(plan: Plan) -> Iterator[str]:
    yield f"plan: {plan.name}"
    yield f"plan_id: {plan.plan_id}"
    yield f"phase: {plan.phase}"
    yield f"state: {plan.state}"
    yield f"sandbox: {safe(plan.sandbox.path)}"
    yield f"branch: {safe(plan.sandbox.branch or '-')}"
    yield f"base_commit: {plan.sandbox.base_commit or '-'}"


def _plan_facts(plan: Plan, *, verbose: bool) -> list[tuple[str, RenderableType]]:
    from backtrail.cli.render.look import state, text

    rows: list[tuple[str, RenderableType]] = [
        ("Plan", text(plan.name, "bold")),
        ("Phase", text(plan.phase)),
        ("State", state(plan.state)),
        ("Sandbox", text(plan.sandbox.path)),
        ("Branch", text(plan.sandbox.branch or "none")),
        ("Base", text((plan.sandbox.base_commit or "none")[: None if verbose else 12])),
    ]
    return [*rows, ("Id", text(plan.plan_id))] if verbose else rows


def _latest(checkpoint: Checkpoint | None) -> RenderableType:
    from backtrail.cli.render.look import line, text

    if checkpoint is None:
        return text("none", "dim")
    label = f" {checkpoint.label}" if checkpoint.label else ""
    when = f"  {checkpoint.checkpoint_type}, {ago(checkpoint.created_at)}"
    return line((checkpoint.seq, "bold cyan"), (label, "magenta"), (when, "dim"))


def plans_report(plans: Sequence[PlanSummary], *, changes: bool = False) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import table, text

        if not plans:
            yield text("There are no plans here; plan create NAME makes one.", "dim")
            return
        names = ["plan", "phase", "state", "active", "checkpoints", "size"]
        names += ["changed"] if changes else []
        names += ["sandbox", "id"] if verbose else ["sandbox"]
        yield table(names, [_rich_row(p, changes=changes, verbose=verbose) for p in plans])

    return Report(
        data={"plans": [_fields(p) for p in plans]},
        plain=lambda: ("\t".join(_plain_row(p)) for p in plans),
        rich=rich,
    )


def _fields(summary: PlanSummary) -> dict[str, Any]:
    return {
        **plan_fields(summary.plan),
        "active_at": summary.active_at,
        "checkpoints": summary.checkpoints,
        "size_bytes": summary.size_bytes,
        "changed_files": summary.changed_files,
        "sandbox_present": summary.present,
    }


def _plain_row(summary: PlanSummary) -> tuple[str, ...]:
    plan = summary.plan
    return (
        plan.name,
        plan.plan_id,
        plan.phase,
        plan.state,
        safe(plan.sandbox.path),
        timestamp(summary.active_at),
        str(summary.checkpoints),
        str(summary.size_bytes),
        _changed(summary),
    )


def _changed(summary: PlanSummary) -> str:
    return "-" if summary.changed_files is None else str(summary.changed_files)


def _rich_row(summary: PlanSummary, *, changes: bool, verbose: bool) -> list[Text]:
    from backtrail.cli.render.look import line, state, text

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
    row += [text(_changed(summary), "yellow")] if changes else []
    return [*row, place, text(plan.plan_id, "dim")] if verbose else [*row, place]
