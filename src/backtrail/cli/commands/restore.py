"""`plan restore`: it asks nothing, since nothing that is there is overwritten."""

from pathlib import Path
from typing import Annotated

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import (
    DryRun,
    PlanArgument,
    PlanOption,
    Print,
    Wait,
    YesForSymmetry,
    option,
    some_path,
)
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.lifecycle import restored_report

Place = Annotated[
    Path | None,
    option(
        "--path",
        parser=some_path,
        metavar="PLACE",
        help="Put it there; or, if you moved the sandbox there, take it up.",
    ),
]


def restore(
    session: Session,
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    path: Place = None,
    yes: YesForSymmetry = False,
    dry_run: DryRun = False,
    wait: Wait = 30.0,
    print_: Print = None,
) -> Report:
    """Bring a removed, deleted or pruned sandbox back from its latest checkpoint."""
    del yes
    with session.services() as services:
        finder = Finder(session, services, plan_option, destructive=True, removed=True)
        found = finder.plan(plan)
        place = None if path is None else (session.start / path).resolve()
        result = services.lifecycle.restore(found.plan_id, path=place, dry_run=dry_run, wait=wait)
    return restored_report(result).only(print_)
