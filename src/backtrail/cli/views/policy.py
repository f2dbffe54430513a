"""The report about a plan's policy."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from backtrail.cli.render.report import Report
from backtrail.cli.render.text import count, size
from backtrail.cli.views.retention import yes_or_no
from backtrail.domain.quantities import age_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from backtrail.services.retention.service import PlanPolicy


_RULES = {"allowed": "Allowed", "require_confirmation": "Confirmed each time"}


def policy_report(found: PlanPolicy, *, changed: bool = False) -> Report:
    rules = found.rollback.policy.rules()
    limits = found.retention.policy.limits()
    # What holds: the limit leaves no room for more.
    limits["keep_recent"] = _keep_recent(found)
    own = [f"retention.{name}" for name in found.retention.own]
    own += [f"rollback.{name}" for name in found.rollback.own]

    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import facts, line, panel, text

        del verbose
        rows: list[tuple[str, RenderableType]] = [
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
        answers: list[tuple[str, RenderableType]] = [
            (_RULES[name], text(yes_or_no(value))) for name, value in rules.items()
        ]
        yield panel(f"Rollbacks of plan {found.plan.name}", facts(answers))

    return Report(
        data={
            "plan": found.plan.name,
            "plan_id": found.plan.plan_id,
            "policy": {"retention": limits, "rollback": rules},
            "set_for_plan": own,
            "checkpoints": found.checkpoints,
            "changed": found.changed,
        },
        plain=lambda: (
            f"plan: {found.plan.name}",
            *(f"{name}: {'none' if v is None else v}" for name, v in limits.items()),
            *(f"rollback_{name}: {yes_or_no(value)}" for name, value in rules.items()),
            f"checkpoints: {found.checkpoints}",
            f"changed: {yes_or_no(found.changed)}",
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
    wish, holds = found.retention.policy.keep_recent, _keep_recent(found)
    if wish == holds or "keep_recent" not in found.retention.own:
        return ()
    return (f"keep_recent was set to {wish}, but max_checkpoints leaves room for {holds} at most",)


def _keep_recent(found: PlanPolicy) -> int:
    return min(found.retention.policy.keep_recent, found.retention.policy.max_checkpoints)


def _to_come(found: PlanPolicy) -> tuple[str, ...]:
    surplus = found.checkpoints - found.retention.policy.max_checkpoints
    if surplus <= 0 or not found.changed:
        return ()
    said = (
        f"the plan has {count(surplus, 'checkpoint')} more than that; the next checkpoint or "
        "plan checkpoint prune removes what is not protected"
    )
    return (said,)
