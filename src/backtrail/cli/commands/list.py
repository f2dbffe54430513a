"""`plan list`."""

from typing import Annotated

import typer

from backtrail.cli.output.plans import plans_report
from backtrail.cli.output.report import Report
from backtrail.cli.session import Session
from backtrail.domain.errors import NoPlansYetError


def list_plans(
    session: Session,
    all_: Annotated[bool, typer.Option("--all", "-a", help="Removed plans too.")] = False,
) -> Report:
    """List the plans of this repository."""
    try:
        with session.services(lenient=True) as services:
            return plans_report(services.plans.list_plans(include_removed=all_))
    except NoPlansYetError:
        return plans_report(())
