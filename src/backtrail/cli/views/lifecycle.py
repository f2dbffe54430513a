"""Reports about plans that are cancelled, removed, purged and restored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.text import count, safe, size
from backtrail.cli.views.checkpoints import checkpoint_values
from backtrail.cli.views.fields import not_restored_fields, plan_fields
from backtrail.cli.views.retention import DRY_RUN, yes_or_no
from backtrail.cli.views.rollback import not_restored_in_words, not_restored_lines
from backtrail.domain.plan import PlanState, RestoreSource, SandboxFate, SandboxKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.plan import Purge, RemovalResult, RestoreResult, StateChange


_SOURCES = {
    RestoreSource.SET_ASIDE: "from where it was set aside, ignored files and all",
    RestoreSource.CHECKPOINT: "from the checkpoint alone",
    RestoreSource.ATTACHED: "your own directory, as you left it",
    RestoreSource.MOVED: "where you moved it, as you left it",
}


def state_report(change: StateChange) -> Report:
    plan = change.plan
    what = "is cancelled" if plan.state is PlanState.CANCELLED else f"is {plan.state} again"
    said = f"Plan {plan.name} {what}." if change.changed else f"Plan {plan.name} was cancelled."

    def rich(_: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import line, text

        yield line(("✓ ", "green"), (said, ""))
        if plan.state is PlanState.CANCELLED:
            yield text(f"plan cancel {plan.name} --reopen takes this back.", "dim")

    return Report(
        data={"plan": plan_fields(plan), "changed": change.changed},
        plain=lambda: [
            f"plan: {plan.name}",
            f"phase: {plan.phase}",
            f"state: {plan.state}",
            f"changed: {yes_or_no(change.changed)}",
        ],
        rich=rich,
        silenced_by_quiet=True,
    )


def removed_report(result: RemovalResult) -> Report:
    fields = _removal_fields(result)
    return Report(
        data={"plan": plan_fields(result.plan), "removal": fields},
        plain=lambda: _plain(result.plan.name, fields, _removal_closing(result)),
        rich=lambda _: _removed_rich(result),
        messages=result.messages,
        # A dry run is asked for its words alone.
        silenced_by_quiet=not result.dry_run,
    )


def _removal_fields(result: RemovalResult) -> dict[str, Any]:
    safety = result.safety_checkpoint
    return {
        "dry_run": result.dry_run,
        "sandbox": result.fate,
        "path": str(result.plan.sandbox.path),
        "safety_checkpoint": safety.checkpoint_id if safety else None,
        "set_aside": str(result.set_aside) if result.set_aside else None,
        "set_aside_bytes": result.set_aside_bytes,
        "branch": result.branch,
        "branch_deleted": result.branch_deleted,
        "purge": _purge_fields(result.purge) if result.purge else None,
    }


def _purge_fields(purge: Purge) -> dict[str, Any]:
    return {
        "checkpoints": purge.checkpoints,
        "set_aside": [str(place) for place in purge.set_aside],
        "freed_bytes": purge.freed_bytes,
    }


def _removal_closing(result: RemovalResult) -> str:
    plan, purge = result.plan, result.purge
    if result.dry_run:
        return DRY_RUN
    if purge is not None and purge.checkpoints:
        return f"Plan {plan.name} is purged: it cannot be restored."
    if result.fate is SandboxFate.LEFT_IN_PLACE and plan.sandbox.kind is SandboxKind.OWN:
        return (
            f"What is in {plan.sandbox.path} was not saved. Once it is moved away, "
            f"plan restore {plan.name} brings back the latest checkpoint."
        )
    return f"Changed your mind? plan restore {plan.name} brings it back."


def _removed_rich(result: RemovalResult) -> Iterator[RenderableType]:
    from backtrail.cli.render.look import facts, panel, text

    plan, safety = result.plan, result.safety_checkpoint
    rows: list[tuple[str, RenderableType]] = [("Plan", text(plan.name, "bold"))]
    if safety is not None:
        rows.append(("Saved as", text(f"checkpoint {safety.seq}", "bold cyan")))
    if result.fate is not None:
        rows += [
            ("Sandbox", text(_fate(result))),
            ("Branch", text(_branch(result))),
        ]
    if result.purge is not None:
        rows.append(("For good", text(_purged(result.purge), "red")))
    title = f"Removal of plan {plan.name}"
    if result.dry_run:
        yield panel(f"{title} (dry run)", facts(rows), "yellow")
    else:
        yield panel(title, facts(rows), "green")
    yield text(_removal_closing(result), "bold yellow" if result.dry_run else "bold")
    if result.set_aside is not None and result.purge is None:
        yield text(f"plan remove {plan.plan_id} --purge-files frees the space.", "dim")


def _fate(result: RemovalResult) -> str:
    amount, would = size(result.set_aside_bytes), "would be " if result.dry_run else ""
    if result.fate is SandboxFate.SET_ASIDE and result.set_aside is None:
        return f"{would}set aside, {amount}"
    if result.set_aside is not None:
        return f"{would}set aside in {result.set_aside}, {amount}"
    if result.fate is SandboxFate.LEFT_IN_PLACE:
        return f"{result.plan.sandbox.path} stays as it is"
    return f"{result.plan.sandbox.path} was gone already"


def _branch(result: RemovalResult) -> str:
    if result.branch is None:
        return "none of the plan's own"
    if result.branch_deleted:
        would = "would be " if result.dry_run else ""
        return f"{result.branch} {would}deleted; a checkpoint keeps its commits"
    return f"{result.branch} stays" if result.fate else result.branch


def _purged(purge: Purge) -> str:
    number = count(purge.checkpoints, "checkpoint")
    return f"{number} and {size(purge.freed_bytes)} of files that were set aside"


def restored_report(result: RestoreResult) -> Report:
    fields = _restore_fields(result)
    return Report(
        data={"plan": plan_fields(result.plan), "restore": fields},
        plain=lambda: _plain(result.plan.name, fields, _restore_closing(result)),
        rich=lambda _: _restored_rich(result),
        values={
            **checkpoint_values(result.restored_checkpoint or result.target),
            Value.ID: result.plan.plan_id,
            Value.PATH: str(result.path),
        },
        messages=result.messages,
        silenced_by_quiet=not result.dry_run,
    )


def _restore_fields(result: RestoreResult) -> dict[str, Any]:
    def name(checkpoint: Checkpoint | None) -> str | None:
        return checkpoint.checkpoint_id if checkpoint else None

    return {
        "dry_run": result.dry_run,
        "source": result.source,
        "path": str(result.path),
        "checkpoint": name(result.target),
        "checkpoint_seq": result.target.seq if result.target else None,
        "safety_checkpoint": name(result.safety_checkpoint),
        "restored_checkpoint": name(result.restored_checkpoint),
        "files_restored": result.files_restored,
        "verified": result.verified,
        "not_restored": not_restored_fields(result.not_restored),
    }


def _restore_closing(result: RestoreResult) -> str:
    if result.dry_run:
        return DRY_RUN
    return f'Work there with cd "$(plan path {result.plan.name})".'


def _restored_rich(result: RestoreResult) -> Iterator[RenderableType]:
    from backtrail.cli.render.look import facts, panel, state, text

    plan, target = result.plan, result.target
    rows: list[tuple[str, RenderableType]] = [
        ("Plan", text(plan.name, "bold")),
        ("State", state(plan.state)),
        ("Sandbox", text(result.path)),
        ("Comes", text(_SOURCES[result.source])),
    ]
    if target is not None:
        rows.append(("Checkpoint", text(f"{target.seq}, {target.checkpoint_type}", "bold cyan")))
    if result.verified:
        missing = not_restored_in_words(result.not_restored)
        rows.append(("Verified", text("yes, byte for byte", "green")))
        if missing:
            rows.append(("Not brought back", text(missing, "bold yellow")))
    if result.dry_run:
        yield panel(f"Restore of plan {plan.name} (dry run)", facts(rows), "yellow")
    else:
        yield panel(f"Restore of plan {plan.name}", facts(rows), "green")
    yield text(_restore_closing(result), "bold yellow" if result.dry_run else "bold")


def _plain(name: str, fields: Mapping[str, Any], closing: str) -> Iterator[str]:
    yield f"plan: {name}"
    for key, value in fields.items():
        if isinstance(value, dict | list):
            continue
        yield f"{key}: {'-' if value is None else yes_or_no(value)}"
    yield from not_restored_lines(fields.get("not_restored", ()))
    purge = fields.get("purge")
    if purge:
        yield f"purged_checkpoints: {purge['checkpoints']}"
        yield f"freed_bytes: {purge['freed_bytes']}"
        yield from (f"purged\t{safe(place)}" for place in purge["set_aside"])
    yield closing
