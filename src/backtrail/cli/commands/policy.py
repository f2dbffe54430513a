"""`plan policy`."""

from datetime import timedelta
from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import PlanArgument, PlanOption, option
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.retention import policy_report
from backtrail.domain.quantities import parse_age, parse_size

NONE = "none"
LIMITS = "Retention"

MaxCheckpoints = Annotated[
    int | None,
    option("--max-checkpoints", metavar="N", help="Keep at most N checkpoints.", panel=LIMITS),
]
MaxAge = Annotated[
    str | None,
    option(
        "--max-age",
        metavar="AGE",
        help="Keep none older than this, such as 30d or 12h; none for no limit.",
        panel=LIMITS,
    ),
]
MaxBytes = Annotated[
    str | None,
    option(
        "--max-bytes",
        metavar="SIZE",
        help="Keep no more than this, such as 2GiB; none for no limit.",
        panel=LIMITS,
    ),
]
KeepRecent = Annotated[
    int | None,
    option("--keep-recent", metavar="N", help="Keep the N newest in any case.", panel=LIMITS),
]
UndoDepth = Annotated[
    int | None,
    option("--undo-depth", metavar="N", help="Let the last N rollbacks be undone.", panel=LIMITS),
]
ROLLBACKS = "Rollbacks"
AllowRollback = Annotated[
    bool | None,
    option(
        "--allow-rollback/--forbid-rollback",
        help="Whether rollback, undo, redo and corrections are allowed.",
        panel=ROLLBACKS,
    ),
]
RequireConfirmation = Annotated[
    bool | None,
    option(
        "--require-confirmation/--no-confirmation",
        help="Whether a rollback needs --yes or a person's answer.",
        panel=ROLLBACKS,
    ),
]
Reset = Annotated[
    bool,
    typer.Option(
        "--reset",
        help="Go back to the usual rules, before any other option is looked at.",
    ),
]


def policy(
    session: Session,
    plan: PlanArgument = None,
    *,
    plan_option: PlanOption = None,
    max_checkpoints: MaxCheckpoints = None,
    max_age: MaxAge = None,
    max_bytes: MaxBytes = None,
    keep_recent: KeepRecent = None,
    undo_depth: UndoDepth = None,
    allow_rollback: AllowRollback = None,
    require_confirmation: RequireConfirmation = None,
    reset: Reset = False,
) -> Report:
    """Show how much a plan keeps and whether it may be rolled back, or change it."""
    wishes = {
        "max_checkpoints": max_checkpoints,
        "keep_recent": keep_recent,
        "undo_depth": undo_depth,
    }
    limits: dict[str, int | None] = {k: v for k, v in wishes.items() if v is not None}
    if max_age is not None:
        limits["max_age_seconds"] = None if max_age == NONE else _seconds(parse_age(max_age))
    if max_bytes is not None:
        limits["max_bytes"] = None if max_bytes == NONE else parse_size(max_bytes)
    answers = {"allowed": allow_rollback, "require_confirmation": require_confirmation}
    rules = {name: value for name, value in answers.items() if value is not None}
    with session.services() as services:
        found = Finder(session, services, plan_option).plan(plan)
        if limits or rules or reset:
            changed = services.policies.change(found.plan_id, limits, rules, reset=reset)
            return policy_report(changed, changed=True)
        return policy_report(services.policies.show(found.plan_id))


def _seconds(age: timedelta) -> int:
    return round(age.total_seconds())
