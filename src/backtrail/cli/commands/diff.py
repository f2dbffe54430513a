"""`plan diff`, and `plan checkpoint diff`, which is the same."""

from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import CHECKPOINT_HELP, PlanOption, argument
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.diff import diff_report


def diff(
    session: Session,
    older: Annotated[
        str | None, argument(metavar="A", help=f"{CHECKPOINT_HELP} Else the latest.")
    ] = None,
    newer: Annotated[
        str | None,
        argument(metavar="B", help="Another checkpoint; else the sandbox now."),
    ] = None,
    plan_option: PlanOption = None,
    patch: Annotated[
        bool, typer.Option("--patch/--stat", help="Line by line, or only which files.")
    ] = False,
) -> Report:
    """Show what differs between two checkpoints, or between one and the sandbox now."""
    with session.services() as services:
        found = Finder(session, services, plan_option).plan()
        return diff_report(services.checkpoints.diff(found.plan_id, older, newer, patch=patch))
