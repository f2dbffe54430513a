"""`plan list`."""

from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import option
from backtrail.cli.render.report import Report
from backtrail.cli.views.plans import plans_report
from backtrail.domain.errors import NoPlansYetError
from backtrail.domain.plan import PlanOrder, PlanState

States = Annotated[
    list[PlanState] | None, option("--state", help="Only plans in this state; repeatable.")
]
Sort = Annotated[
    PlanOrder, typer.Option("--sort", help="The newest, largest or most first; names from A to Z.")
]
Changes = Annotated[
    bool,
    typer.Option(
        "--changes", help="Count files changed since the latest checkpoint; looks at each sandbox."
    ),
]


def list_plans(
    session: Session,
    all_: Annotated[bool, typer.Option("--all", "-a", help="Removed plans too.")] = False,
    state: States = None,
    sort: Sort = PlanOrder.ACTIVITY,
    changes: Changes = False,
) -> Report:
    """List the plans of this repository, those worked on last first."""
    try:
        with session.services(lenient=not changes) as services:
            plans = services.plans.overview(
                states=state or (), include_removed=all_, order=sort, count_changes=changes
            )
            return plans_report(plans, changes=changes)
    except NoPlansYetError:
        return plans_report(())
