"""`plan apply`."""

from functools import partial
from typing import Annotated

import typer

from backtrail.cli.invocation.confirm import confirm_apply, refuse_without_terminal
from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import (
    DryRun,
    PlanArgument,
    PlanOption,
    Print,
    Wait,
    Yes,
    option,
    something,
)
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.apply import apply_report
from backtrail.domain.plan import ApplyRequest
from backtrail.domain.settings import ApplyStrategy

Onto = Annotated[
    str | None,
    option(
        "--onto",
        parser=something,
        metavar="BRANCH",
        help="The branch that gets the work; else the one that the plan was created from.",
    ),
]
How = Annotated[
    ApplyStrategy | None,
    option(
        "--strategy",
        help="One new commit, a merge commit, or the branch moves forward; else as plan.toml says.",
    ),
]
Message = Annotated[
    str | None,
    option("-m", "--message", metavar="MSG", help="The message of the commit."),
]
NoVerify = Annotated[
    bool, typer.Option("--no-verify", help="Leave out the hooks that git commit leaves out then.")
]


def apply(
    session: Session,
    plan: PlanArgument = None,
    *,
    plan_option: PlanOption = None,
    onto: Onto = None,
    strategy: How = None,
    message: Message = None,
    no_verify: NoVerify = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    wait: Wait = 30.0,
    print_: Print = None,
) -> Report:
    """Bring the outcome of a plan onto a branch, as commits of yours."""
    request = ApplyRequest(onto, strategy, message, verify=not no_verify)
    with session.services() as services:
        found = Finder(session, services, plan_option, destructive=True).plan(plan)
        work = partial(services.applies.apply, found.plan_id, request, wait=wait)
        if not yes and not dry_run:
            refuse_without_terminal(session, "an apply")
            looked = work(dry_run=True)
            if not looked.empty:
                confirm_apply(session, looked)
        return apply_report(work(dry_run=dry_run)).only(print_)
