"""`plan log`."""

from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import Limit, PlanArgument, PlanOption
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.timeline import log_report
from backtrail.domain.history import View


def log(
    session: Session,
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    limit: Limit = None,
    live: Annotated[bool, typer.Option("--live", help="Only what is on the timeline now.")] = False,
    all_: Annotated[bool, typer.Option("--all", "-a", help="Failed and pruned ones too.")] = False,
) -> Report:
    """Draw a plan's timeline and what branched off it, newest first."""
    view = View(live_only=live, tombstones=all_, limit=limit)
    with session.services(lenient=True) as services:
        found = Finder(session, services, plan_option).plan(plan)
        return log_report(services.checkpoints.history(found.plan_id, view))
