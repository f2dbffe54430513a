"""`plan cancel`: it asks nothing, since nothing is lost and --reopen takes it back."""

from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import PlanArgument, PlanOption, Reason, Wait, YesForSymmetry
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.lifecycle import state_report

Reopen = Annotated[
    bool, typer.Option("--reopen", help="Take a cancellation back: go on with the plan.")
]


def cancel(
    session: Session,
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    reopen: Reopen = False,
    reason: Reason = "",
    yes: YesForSymmetry = False,
    wait: Wait = 30.0,
) -> Report:
    """Mark a plan as cancelled; its sandbox and its checkpoints stay."""
    del yes
    with session.services() as services:
        found = Finder(session, services, plan_option, destructive=True).plan(plan)
        change = services.lifecycle.reopen if reopen else services.lifecycle.cancel
        return state_report(change(found.plan_id, reason=reason, wait=wait))
