"""`plan runs list` and `plan runs show`."""

from typing import Annotated

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import Limit, PlanArgument, PlanOption, argument
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.runs import listed_report, shown_report
from backtrail.domain.errors import UsageError


def list_runs(
    session: Session,
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    limit: Limit = None,
) -> Report:
    """List what was run in a plan's sandbox, newest first; plan runs alone does the same."""
    with session.services() as services:
        found = Finder(session, services, plan_option).plan(plan)
        return listed_report(found, services.runs.list_runs(found.plan_id, limit=limit))


def show(
    session: Session,
    words: Annotated[
        list[str],
        argument(
            metavar="[PLAN] RUN", help="A run: its number, its id or the beginning of its id."
        ),
    ],
    plan_option: PlanOption = None,
) -> Report:
    """Show one run."""
    with session.services() as services:
        found, rest = Finder(session, services, plan_option).plan_and_words(words, most=1)
        if not rest:
            raise UsageError("no run is named", hint=f"plan runs {found.name} shows them")
        return shown_report(services.runs.get(found.plan_id, rest[0]))
