"""What is pruned, deleted and kept, each with its reason, and the rules that say so."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from backtrail.cli.render.look import facts, line, panel, table, text
from backtrail.cli.render.report import Report
from backtrail.cli.render.shape import (
    COUNT,
    FLAG,
    ID,
    ORDINAL,
    TEXT,
    itself,
    listed,
    shape,
    words,
)
from backtrail.cli.render.text import ago, columns, count, named, plain, size
from backtrail.cli.views.fields import CHECKPOINT_TYPE, OF_A_PLAN, ROLLBACK_POLICY
from backtrail.domain.quantities import age_in_words
from backtrail.domain.retention import LIMITS, KeepReason, Removed, RemoveReason
from backtrail.domain.settings import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from backtrail.domain.retention import Kept, PruneResult
    from backtrail.services.retention.service import PlanPolicy


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
_RULES = {"allowed": "Allowed", "require_confirmation": "Confirmed each time"}

_ENTRY = {
    "seq": ORDINAL.at("checkpoint.seq"),
    "checkpoint_id": ID.at("checkpoint.checkpoint_id"),
    "checkpoint_type": CHECKPOINT_TYPE.at("checkpoint.checkpoint_type"),
    "label": (TEXT | None).at("checkpoint.label"),
    "size_bytes": (COUNT | None).at("checkpoint.size_bytes"),
}
_LIMITS_REASONS = [reason for reason in RemoveReason if reason is not RemoveReason.ASKED_FOR]
PRUNED = shape(
    prune=shape(
        **OF_A_PLAN,
        dry_run=FLAG,
        limit=ORDINAL.at("decision.policy.max_checkpoints"),
        over_limit=COUNT.at("decision.over_limit"),
        over_bytes=COUNT.at("decision.over_bytes"),
        kept=listed(shape(**_ENTRY, reason=words(KeepReason))).at("decision.kept"),
        removed=listed(shape(**_ENTRY, reason=words(_LIMITS_REASONS))).at("decision.removed"),
    ).at(itself)
)
DELETED = shape(
    delete=shape(
        **OF_A_PLAN,
        dry_run=FLAG,
        removed=listed(shape(**_ENTRY, reason=words([RemoveReason.ASKED_FOR]))).at(
            "decision.removed"
        ),
    ).at(itself)
)


def _limits(found: PlanPolicy) -> dict[str, int | None]:
    """What holds: the limit leaves no room for more recent ones."""
    policy = found.retention.policy
    keep_recent = min(policy.keep_recent, policy.max_checkpoints)
    return {**policy.limits(), "keep_recent": keep_recent}


def _own(found: PlanPolicy) -> list[str]:
    """The rules that the plan itself sets."""
    own = [f"retention.{name}" for name in found.retention.own]
    return own + [f"rollback.{name}" for name in found.rollback.own]


POLICY = shape(
    **OF_A_PLAN,
    policy=shape(
        retention=shape(
            max_checkpoints=ORDINAL,
            max_age_seconds=ORDINAL | None,
            max_bytes=ORDINAL | None,
            keep_recent=COUNT,
            undo_depth=ORDINAL,
        ).at(_limits),
        rollback=ROLLBACK_POLICY.at("rollback.policy"),
    ).at(itself),
    set_for_plan=listed(
        words([*(f"retention.{name}" for name in LIMITS), *(f"rollback.{name}" for name in RULES)])
    ).at(_own),
    checkpoints=COUNT,
    changed=FLAG,
)


def pruned_report(result: PruneResult) -> Report:
    decision, data = result.decision, PRUNED.of(result)
    everything = (*decision.removed, *decision.kept)
    return Report(
        data=data,
        plain=lambda: _plain(result, data["prune"], everything),
        rich=lambda verbose: _rich(result, everything if verbose else decision.removed),
        messages=_exceeded(result),
        # A dry run is asked for its words alone.
        silenced_by_quiet=not result.dry_run,
    )


def deleted_report(result: PruneResult) -> Report:
    removed, data = result.decision.removed, DELETED.of(result)
    return Report(
        data=data,
        plain=lambda: _plain(result, data["delete"], removed),
        rich=lambda _: _rich(result, removed),
        silenced_by_quiet=not result.dry_run,
    )


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
    yield from named((k, value) for k, value in fields.items() if not isinstance(value, list))
    for entry in entries:
        word, row = "removed" if isinstance(entry, Removed) else "kept", entry.checkpoint
        yield columns(word, row.seq, row.checkpoint_id, row.checkpoint_type, entry.reason)
    if result.dry_run:
        yield DRY_RUN


def _rich(result: PruneResult, entries: Sequence[Kept | Removed]) -> Iterator[RenderableType]:
    if entries:
        yield table(["#", "label", "type", "when", "size", "", "why"], map(_row, entries))
    number = count(len(result.decision.removed), "checkpoint")
    did = "would be removed from" if result.dry_run else "removed from"
    kept = f", {len(result.decision.kept)} kept"
    name = (result.plan.name, "bold")
    mark = ("", "") if result.dry_run else ("✓ ", "green")
    yield line(mark, (number, "bold cyan"), (f" {did} plan ", ""), name, (kept, "dim"))
    if result.dry_run:
        yield text(DRY_RUN, "bold yellow")


def _row(entry: Kept | Removed) -> list[RenderableType]:
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


def policy_report(found: PlanPolicy, *, changed: bool = False) -> Report:
    limits, rules = _limits(found), found.rollback.policy.rules()

    def rich(_: bool) -> Iterator[RenderableType]:
        rows = [
            (
                name.removesuffix("_seconds").replace("_", " ").capitalize(),
                line(
                    (_limit(name, value), ""),
                    ("" if name in found.retention.own else "  as usual", "dim"),
                ),
            )
            for name, value in limits.items()
        ]
        rows.append(("Checkpoints now", text(found.checkpoints)))
        yield panel(f"Retention of plan {found.plan.name}", facts(rows))
        answers = ((_RULES[name], plain(value)) for name, value in rules.items())
        yield panel(f"Rollbacks of plan {found.plan.name}", facts(answers))

    return Report(
        data=POLICY.of(found),
        plain=lambda: named(
            (
                ("plan", found.plan.name),
                *((name, "none" if v is None else v) for name, v in limits.items()),
                *((f"rollback_{name}", value) for name, value in rules.items()),
                ("checkpoints", found.checkpoints),
                ("changed", found.changed),
            )
        ),
        rich=rich,
        messages=(*_no_room(found), *_to_come(found)),
        silenced_by_quiet=changed,
    )


def _limit(name: str, value: int | None) -> str:
    if value is None:
        return "no limit"
    if name == "max_age_seconds":
        return age_in_words(timedelta(seconds=value))
    return size(value) if name == "max_bytes" else str(value)


def _no_room(found: PlanPolicy) -> tuple[str, ...]:
    """What the plan itself asks for and what cannot hold."""
    wish, holds = found.retention.policy.keep_recent, _limits(found)["keep_recent"]
    if wish == holds or "keep_recent" not in found.retention.own:
        return ()
    return (f"keep_recent was set to {wish}, but max_checkpoints leaves room for {holds} at most",)


def _to_come(found: PlanPolicy) -> tuple[str, ...]:
    surplus = found.checkpoints - found.retention.policy.max_checkpoints
    if surplus <= 0 or not found.changed:
        return ()
    said = (
        f"the plan has {count(surplus, 'checkpoint')} more than that; the next checkpoint or "
        "plan checkpoint prune removes what is not protected"
    )
    return (said,)
