"""`plan ops`."""

from backtrail.cli.options import Limit, PlanArgument, PlanOption
from backtrail.cli.output.operations import operations_report
from backtrail.cli.output.report import Report
from backtrail.cli.session import Session
from backtrail.cli.target import Finder


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
