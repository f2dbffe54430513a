"""`plan steps`."""

from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import PlanArgument, PlanOption
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.steps import steps_report

Live = Annotated[bool, typer.Option("--live", help="Only those that are on the timeline.")]


def steps(
    session: Session,
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    live: Live = False,
) -> Report:
    """Show the steps of a plan, in the order in which they began."""
    with session.services() as services:
        found = Finder(session, services, plan_option).plan(plan)
        return steps_report(services.steps.list_steps(found.plan_id, live_only=live))
