"""`plan path`."""

from backtrail.cli.options import PlanArgument, PlanOption
from backtrail.cli.output.plans import path_report
from backtrail.cli.output.report import Report
from backtrail.cli.session import Session
from backtrail.cli.target import Finder


def path(session: Session, plan: PlanArgument = None, plan_option: PlanOption = None) -> Report:
    """Print the directory of a plan's sandbox, as in: cd "$(plan path auth)"."""
    with session.services(lenient=True) as services:
        return path_report(Finder(session, services, plan_option).plan(plan))
