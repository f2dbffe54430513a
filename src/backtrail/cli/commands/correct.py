"""`plan correct`."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

from backtrail.cli.commands.decision import DECISION_HELP
from backtrail.cli.invocation.confirm import confirm_correction, refuse_without_terminal
from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import (
    AbortRun,
    DryRun,
    DuringMerge,
    PlanOption,
    Print,
    Wait,
    Yes,
    argument,
    option,
)
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.corrections import correction_report
from backtrail.domain.correction import CorrectionMode
from backtrail.domain.errors import UsageError
from backtrail.domain.plan import Plan

Words = Annotated[list[str] | None, argument(metavar="[PLAN] DECISION", help=DECISION_HELP)]
Mode = Annotated[
    CorrectionMode | None,
    option("--mode", help="Go back to before the decision, or leave all as it is and add to it."),
]
Guidance = Annotated[str, option("--guidance", metavar="TEXT", help="What to do instead.")]
Nearest = Annotated[
    bool,
    typer.Option(
        "--nearest", help="Go back further if the checkpoint before the decision is gone."
    ),
]


def _only(words: Sequence[str], plan: Plan) -> str:
    if not words:
        raise UsageError("no decision is named", hint=f"plan decision tree {plan.name} shows them")
    return words[0]


def correct(
    session: Session,
    words: Words = None,
    *,
    mode: Mode = None,
    guidance: Guidance = "",
    plan_option: PlanOption = None,
    nearest: Nearest = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    during_merge: DuringMerge = False,
    abort_run: AbortRun = False,
    wait: Wait = 30.0,
    print_: Print = None,
) -> Report:
    """Take a wrong decision back, or add to it, and record what to do instead."""
    if mode is None:
        raise UsageError(
            "it is not said how to correct the decision",
            hint="--mode revert goes back to before it, --mode append only adds to it",
        )
    with session.services() as services:
        finder = Finder(session, services, plan_option, destructive=mode is CorrectionMode.REVERT)
        plan, rest = finder.plan_and_words(words or (), most=1)
        service, found = services.corrections, _only(rest, plan)
        preview = partial(
            service.preview,
            plan.plan_id,
            mode=mode,
            guidance=guidance,
            nearest=nearest,
            during_merge=during_merge,
            abort_run=abort_run,
            wait=wait,
        )
        if dry_run:
            return correction_report(preview(found)).only(print_)
        if mode is CorrectionMode.APPEND:
            result = service.append(plan.plan_id, found, guidance, wait=wait)
            return correction_report(result).only(print_)
        if not yes and services.policies.asks_first(plan):
            # What is wrong is told as such, not as a missing confirmation.
            told = preview(found)
            refuse_without_terminal(session, "taking a decision back")
            confirm_correction(session, told)
            found = told.decision.decision.decision_id
        result = service.revert(
            plan.plan_id,
            found,
            guidance,
            nearest=nearest,
            during_merge=during_merge,
            abort_run=abort_run,
            wait=wait,
        )
        return correction_report(result).only(print_)
