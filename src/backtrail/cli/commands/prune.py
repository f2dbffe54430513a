"""`plan checkpoint prune` and `delete`: the two ways in which checkpoints go for good."""

from collections.abc import Callable
from functools import partial
from typing import Annotated

from backtrail.cli.invocation.confirm import confirm_removal, refuse_without_terminal
from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import (
    CHECKPOINT_HELP,
    DryRun,
    PlanArgument,
    PlanOption,
    Wait,
    Yes,
    argument,
    option,
)
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.retention import deleted_report, pruned_report
from backtrail.domain.errors import UsageError
from backtrail.domain.retention import PruneResult

Most = Annotated[
    int | None,
    option(
        "--max", metavar="N", help="Keep at most N this time; else as many as plan policy says."
    ),
]
Words = Annotated[list[str], argument(metavar="[PLAN] CHECKPOINT...", help=CHECKPOINT_HELP)]


def prune(
    session: Session,
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    most: Most = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    wait: Wait = 30.0,
) -> Report:
    """Remove the checkpoints that a plan's limits do not let stay."""
    with session.services() as services:
        found = Finder(session, services, plan_option, destructive=True).plan(plan)
        work = partial(services.checkpoints.prune, found.plan_id, max_checkpoints=most, wait=wait)
        return pruned_report(_confirmed(session, work, "pruning", yes=yes, dry_run=dry_run))


def delete(
    session: Session,
    words: Words,
    plan_option: PlanOption = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    wait: Wait = 30.0,
) -> Report:
    """Remove checkpoints for good; the ones that are needed are refused."""
    with session.services() as services:
        finder = Finder(session, services, plan_option, destructive=True)
        found, references = finder.plan_and_many(words)
        if not references:
            raise UsageError(
                "no checkpoint is named",
                hint=f"name one after the plan; plan checkpoint list {found.name} shows them",
            )
        # The very checkpoints that are agreed to; `latest~1` may move meanwhile.
        ids = [
            services.checkpoints.get_checkpoint(found.plan_id, reference).checkpoint_id
            for reference in references
        ]
        work = partial(services.checkpoints.delete_checkpoints, found.plan_id, ids, wait=wait)
        return deleted_report(_confirmed(session, work, "deleting", yes=yes, dry_run=dry_run))


def _confirmed(
    session: Session, work: Callable[..., PruneResult], what: str, *, yes: bool, dry_run: bool
) -> PruneResult:
    """The work done, or only looked at; somebody has to agree before anything goes."""
    if not yes and not dry_run:
        refuse_without_terminal(session, what)
        confirm_removal(session, work(dry_run=True))
    return work(dry_run=dry_run)
