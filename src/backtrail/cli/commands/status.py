"""`plan status`."""

from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import PlanArgument, PlanOption, Print
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.plans import status_report
from backtrail.domain.errors import ExitCode
from backtrail.domain.rollback import PlanStatus

CHANGED = 1


def status(
    session: Session,
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code", help="Exit with 1 if files changed since the latest checkpoint."
        ),
    ] = False,
    print_: Print = None,
) -> Report:
    """Show where a plan stands and what changed since its latest checkpoint."""
    with session.services() as services:
        found = Finder(session, services, plan_option).plan(plan)
        result = services.plans.status(found.plan_id)
    return status_report(result, _code(result) if exit_code else ExitCode.OK).only(print_)


def _code(status: PlanStatus) -> int:
    if status.problem:
        return ExitCode.SANDBOX_INVALID
    return CHANGED if status.changes or status.latest is None else ExitCode.OK
