"""`plan ops`."""

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import Limit, PlanArgument, PlanOption
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.operations import operations_report


def ops(
    session: Session,
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    limit: Limit = None,
) -> Report:
    """Show who did what to a plan, newest first."""
    with session.services(lenient=True) as services:
        found = Finder(session, services, plan_option).plan(plan)
        operations = services.checkpoints.list_operations(found.plan_id, limit=limit)
    return operations_report(found, operations)
