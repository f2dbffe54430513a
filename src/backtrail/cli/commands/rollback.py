"""`plan rollback`."""

from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from backtrail.cli.invocation.confirm import (
    confirm_rollback,
    pick_checkpoint,
    refuse_without_terminal,
)
from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import (
    CHECKPOINT_HELP,
    AbortRun,
    DryRun,
    DuringMerge,
    PlanOption,
    Print,
    Reason,
    Wait,
    Yes,
    argument,
    option,
)
from backtrail.cli.parsing.target import Finder, sandbox_paths
from backtrail.cli.render.report import Report
from backtrail.cli.views.rollback import rollback_report
from backtrail.domain.checkpoint import Checkpoint
from backtrail.domain.rollback import RollbackRequest, RollbackResult

Words = Annotated[list[str] | None, argument(metavar="[PLAN] CHECKPOINT", help=CHECKPOINT_HELP)]
Paths = Annotated[
    list[str] | None,
    option("--path", metavar="PATH", help="Restore only this; repeatable."),
]
MoveBranch = Annotated[
    bool, typer.Option("--move-branch", help="Move the branch of an attached sandbox too.")
]


def rollback(
    session: Session,
    words: Words = None,
    *,
    plan_option: PlanOption = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    path: Paths = None,
    move_branch: MoveBranch = False,
    during_merge: DuringMerge = False,
    abort_run: AbortRun = False,
    reason: Reason = "",
    wait: Wait = 30.0,
    print_: Print = None,
) -> Report:
    """Bring the sandbox back to a checkpoint, exactly; plan undo takes it back."""
    with session.services() as services:
        finder = Finder(session, services, plan_option, destructive=True)
        plan, rest = finder.plan_and_words(words or (), most=1)
        reference = rest[0] if rest else pick_checkpoint(session, services, plan)
        roll_back = partial(
            services.checkpoints.rollback_to_checkpoint,
            plan,
            request=RollbackRequest(
                tuple(sandbox_paths(session, plan, path or ())), move_branch, during_merge, reason
            ),
            abort_run=abort_run,
            wait=wait,
        )
        if not yes and not dry_run and services.policies.asks_first(plan):
            # A wrong reference is reported as such, not as a missing confirmation.
            target = services.checkpoints.get_checkpoint(plan, reference)
            reference = _confirmed(session, target, partial(roll_back, dry_run=True))
        return rollback_report(roll_back(reference, dry_run=dry_run)).only(print_)


def _confirmed(
    session: Session, target: Checkpoint, preview: Callable[[str], RollbackResult]
) -> str:
    """The id of the very checkpoint that was agreed to; `latest` may have moved meanwhile."""
    refuse_without_terminal(session)
    confirm_rollback(session, preview(target.checkpoint_id))
    return target.checkpoint_id
