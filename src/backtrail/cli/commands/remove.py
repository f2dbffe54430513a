"""`plan remove`: what it takes away `plan restore` brings back, unless it is purged."""

from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from backtrail.cli.invocation.confirm import confirm_plan_removal, confirm_purge
from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import DryRun, PlanArgument, PlanOption, Wait, Yes, option
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.lifecycle import removed_report
from backtrail.domain.errors import UsageError
from backtrail.domain.plan import RemovalResult

KeepBranch = Annotated[bool, typer.Option("--keep-branch", help="Leave the plan's branch.")]
Purge = Annotated[
    bool,
    typer.Option(
        "--purge",
        help="Delete checkpoints and set-aside files as well, for good: plan restore cannot help.",
    ),
]
PurgeFiles = Annotated[
    bool,
    typer.Option(
        "--purge-files",
        help="Delete the set-aside files for good; the checkpoints stay and can be restored.",
    ),
]
Confirm = Annotated[
    str | None,
    option(
        "--confirm",
        metavar="NAME",
        help="The plan's name once more, for a purge that nobody is asked about.",
    ),
]


def remove(
    session: Session,
    plan: PlanArgument = None,
    *,
    plan_option: PlanOption = None,
    keep_branch: KeepBranch = False,
    purge: Purge = False,
    purge_files: PurgeFiles = False,
    confirm: Confirm = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    wait: Wait = 30.0,
) -> Report:
    """Remove a plan, its worktree and its branch; plan restore brings all of it back."""
    if purge and purge_files:
        raise UsageError("--purge and --purge-files exclude each other", hint="--purge does both")
    purging = purge or purge_files
    with session.services() as services:
        finder = Finder(session, services, plan_option, destructive=True, removed=purging)
        found = finder.plan(plan)
        work: Callable[..., RemovalResult] = partial(
            services.lifecycle.remove, found.plan_id, keep_branch=keep_branch, wait=wait
        )
        if purging:
            work = partial(
                services.lifecycle.purge,
                found.plan_id,
                keep_branch=keep_branch,
                files_only=purge_files,
                wait=wait,
            )
        if not dry_run:
            if not yes:
                confirm_plan_removal(session, partial(work, dry_run=True))
            if purging:
                confirm_purge(session, found, confirm)
        return removed_report(work(dry_run=dry_run))
