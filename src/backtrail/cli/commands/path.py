"""`plan path`."""

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import PlanArgument, PlanOption
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.plans import path_report


def path(session: Session, plan: PlanArgument = None, plan_option: PlanOption = None) -> Report:
    """Print the directory of a plan's sandbox, as in: cd "$(plan path auth)"."""
    with session.services(lenient=True) as services:
        return path_report(Finder(session, services, plan_option).plan(plan))
