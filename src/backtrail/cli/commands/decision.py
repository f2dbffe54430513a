"""`plan decision add`, `list`, `tree` and `show`."""

from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import PlanArgument, PlanOption, Print, Wait, argument, option
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.decisions import (
    added_report,
    decision_report,
    decisions_report,
    tree_report,
)
from backtrail.domain.decision import CURRENT, DecisionRequest
from backtrail.domain.errors import UsageError

DECISION_HELP = "A decision: number such as D3, id or its beginning, or current."

Words = Annotated[list[str] | None, argument(metavar="[PLAN] TEXT", help="What is decided.")]
Parent = Annotated[str | None, option("--parent", metavar="DECISION", help="What it follows from.")]
Rationale = Annotated[str, option("--rationale", metavar="TEXT", help="Why.")]
Alternative = Annotated[
    list[str] | None,
    option("--alternative", metavar="TEXT", help="What was turned down; repeatable."),
]
All = Annotated[bool, typer.Option("--all", "-a", help="Superseded and unfinished ones too.")]


def add(
    session: Session,
    words: Words = None,
    *,
    plan_option: PlanOption = None,
    parent: Parent = None,
    rationale: Rationale = "",
    alternative: Alternative = None,
    wait: Wait = 30.0,
    print_: Print = None,
) -> Report:
    """Take a checkpoint and record a choice, which is the plan's current decision then."""
    with session.services() as services:
        finder = Finder(session, services, plan_option)
        plan, rest = finder.plan_and_words(words or (), most=1)
        if not rest:
            raise UsageError(
                "it is not said what is decided",
                hint=f"for instance plan decision add {plan.name} 'use SQLite'",
            )
        request = DecisionRequest(rest[0], parent, rationale, tuple(alternative or ()))
        added = services.decisions.add(plan.plan_id, request, wait=wait)
    return added_report(plan, added).only(print_)


def list_decisions(
    session: Session,
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    all_: All = False,
) -> Report:
    """List the decisions that hold, oldest first."""
    with session.services() as services:
        found = Finder(session, services, plan_option).plan(plan)
        return decisions_report(services.decisions.list(found.plan_id, include_all=all_))


def tree(
    session: Session,
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    all_: All = False,
) -> Report:
    """Draw the decisions that hold: what follows from what."""
    with session.services() as services:
        found = Finder(session, services, plan_option).plan(plan)
        return tree_report(services.decisions.list(found.plan_id, include_all=all_))


def show(
    session: Session,
    words: Annotated[
        list[str] | None,
        argument(metavar="[PLAN] [DECISION]", help=f"{DECISION_HELP} Else the current one."),
    ] = None,
    plan_option: PlanOption = None,
    print_: Print = None,
) -> Report:
    """Show one decision."""
    with session.services() as services:
        finder = Finder(session, services, plan_option)
        plan, rest = finder.plan_and_words(words or (), most=1)
        found = services.decisions.get(plan.plan_id, rest[0] if rest else CURRENT)
        made = services.decisions.made_under(found)
    return decision_report(found, made).only(print_)
