"""Plans that are cancelled, removed, purged and restored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.look import facts, line, panel, state, text
from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.shape import COUNT, FLAG, ID, ORDINAL, TEXT, itself, listed, shape, words
from backtrail.cli.render.text import columns, count, named, size
from backtrail.cli.views.checkpoints import checkpoint_values
from backtrail.cli.views.fields import NOT_RESTORED, PLAN
from backtrail.cli.views.retention import DRY_RUN
from backtrail.cli.views.rollback import not_restored_in_words, not_restored_lines
from backtrail.domain.plan import PlanState, RestoreSource, SandboxFate, SandboxKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from backtrail.domain.plan import Purge, RemovalResult, RestoreResult, StateChange


_SOURCES = {
    RestoreSource.SET_ASIDE: "from where it was set aside, ignored files and all",
    RestoreSource.CHECKPOINT: "from the checkpoint alone",
    RestoreSource.ATTACHED: "your own directory, as you left it",
    RestoreSource.MOVED: "where you moved it, as you left it",
}


STATE = shape(plan=PLAN, changed=FLAG)
REMOVAL = shape(
    plan=PLAN,
    removal=shape(
        dry_run=FLAG,
        sandbox=(words(SandboxFate) | None).at("fate"),
        path=TEXT.at("plan.sandbox.path"),
        safety_checkpoint=(ID | None).at("safety_checkpoint.checkpoint_id"),
        set_aside=TEXT | None,
        set_aside_bytes=COUNT | None,
        branch=TEXT | None,
        branch_deleted=FLAG,
        purge=shape(checkpoints=COUNT, set_aside=listed(TEXT), freed_bytes=COUNT) | None,
    ).at(itself),
)
RESTORE = shape(
    plan=PLAN,
    restore=shape(
        dry_run=FLAG,
        source=words(RestoreSource),
        path=TEXT,
        checkpoint=(ID | None).at("target.checkpoint_id"),
        checkpoint_seq=(ORDINAL | None).at("target.seq"),
        safety_checkpoint=(ID | None).at("safety_checkpoint.checkpoint_id"),
        restored_checkpoint=(ID | None).at("restored_checkpoint.checkpoint_id"),
        files_restored=(COUNT | None).at(lambda result: result.files_restored),
        verified=FLAG,
        not_restored=listed(NOT_RESTORED),
    ).at(itself),
)


def state_report(change: StateChange) -> Report:
    plan = change.plan
    what = "is cancelled" if plan.state is PlanState.CANCELLED else f"is {plan.state} again"
    said = f"Plan {plan.name} {what}." if change.changed else f"Plan {plan.name} was cancelled."

    def rich(_: bool) -> Iterator[RenderableType]:
        yield line(("✓ ", "green"), (said, ""))
        if plan.state is PlanState.CANCELLED:
            yield text(f"plan cancel {plan.name} --reopen takes this back.", "dim")

    return Report(
        data=STATE.of(change),
        plain=lambda: named(
            (
                ("plan", plan.name),
                ("phase", plan.phase),
                ("state", plan.state),
                ("changed", change.changed),
            )
        ),
        rich=rich,
        silenced_by_quiet=True,
    )


def removed_report(result: RemovalResult) -> Report:
    data = REMOVAL.of(result)
    return Report(
        data=data,
        plain=lambda: _removed_lines(result, data["removal"]),
        rich=lambda _: _removed_rich(result),
        messages=result.messages,
        # A dry run is asked for its words alone.
        silenced_by_quiet=not result.dry_run,
    )


def _removed_lines(result: RemovalResult, fields: Mapping[str, object]) -> Iterator[str]:
    yield from _plain(result.plan.name, fields)
    if result.purge is not None:
        yield f"purged_checkpoints: {result.purge.checkpoints}"
        yield f"freed_bytes: {result.purge.freed_bytes}"
        yield from (columns("purged", place) for place in result.purge.set_aside)
    yield _removal_closing(result)


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
    plan, safety = result.plan, result.safety_checkpoint
    survives = result.fate is None
    rows = (
        ("Plan", text(plan.name, "bold")),
        ("Saved as", text(f"checkpoint {safety.seq}", "bold cyan") if safety else None),
        ("Sandbox", None if survives else _fate(result)),
        ("Branch", None if survives else _branch(result)),
        ("For good", text(_purged(result.purge), "red") if result.purge else None),
    )
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
    data = RESTORE.of(result)
    return Report(
        data=data,
        plain=lambda: (
            *_plain(result.plan.name, data["restore"]),
            *not_restored_lines(result.not_restored),
            _restore_closing(result),
        ),
        rich=lambda _: _restored_rich(result),
        values={
            **checkpoint_values(result.restored_checkpoint or result.target),
            Value.ID: result.plan.plan_id,
            Value.PATH: str(result.path),
        },
        messages=result.messages,
        silenced_by_quiet=not result.dry_run,
    )


def _restore_closing(result: RestoreResult) -> str:
    if result.dry_run:
        return DRY_RUN
    return f'Work there with cd "$(plan path {result.plan.name})".'


def _restored_rich(result: RestoreResult) -> Iterator[RenderableType]:
    plan, target = result.plan, result.target
    missing = not_restored_in_words(result.not_restored) if result.verified else ""
    came_from = target and text(f"{target.seq}, {target.checkpoint_type}", "bold cyan")
    rows = (
        ("Plan", text(plan.name, "bold")),
        ("State", state(plan.state)),
        ("Sandbox", result.path),
        ("Comes", _SOURCES[result.source]),
        ("Checkpoint", came_from),
        ("Verified", text("yes, byte for byte", "green") if result.verified else None),
        ("Not brought back", text(missing, "bold yellow") if missing else None),
    )
    if result.dry_run:
        yield panel(f"Restore of plan {plan.name} (dry run)", facts(rows), "yellow")
    else:
        yield panel(f"Restore of plan {plan.name}", facts(rows), "green")
    yield text(_restore_closing(result), "bold yellow" if result.dry_run else "bold")


def _plain(name: str, fields: Mapping[str, object]) -> Iterator[str]:
    yield f"plan: {name}"
    yield from named((k, v) for k, v in fields.items() if not isinstance(v, dict | list))
