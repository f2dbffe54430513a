"""`plan steps`."""

from typing import Annotated

import typer

from backtrail.cli.options import PlanArgument, PlanOption
from backtrail.cli.output.report import Report
from backtrail.cli.output.steps import steps_report
from backtrail.cli.session import Session
from backtrail.cli.target import Finder

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
