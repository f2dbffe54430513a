"""`plan create`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.completion import complete_plan
from backtrail.cli.parsing.options import Print, option, some_path
from backtrail.cli.render.report import Report
from backtrail.cli.views.plans import created_report


class IfExists(StrEnum):
    """What to do about a plan that is already there."""

    USE = "use"
    FAIL = "fail"


Name = Annotated[str, typer.Argument(metavar="NAME", help="A name for the new plan.")]
Base = Annotated[
    str | None,
    option("--base", metavar="REV", help="Where the work begins; else HEAD."),
]
ExistingSandbox = Annotated[
    Path | None,
    option(
        "--sandbox",
        parser=some_path,
        metavar="PATH",
        help="Attach this existing worktree or checkout instead of making a new worktree.",
    ),
]
OnExisting = Annotated[
    IfExists, typer.Option("--if-exists", help="What to do if the plan is already there.")
]


MaxCheckpoints = Annotated[
    int | None,
    option(
        "--max-checkpoints",
        metavar="N",
        help="Keep at most N checkpoints; plan policy changes it later.",
    ),
]


FromDirty = Annotated[
    bool,
    typer.Option(
        "--from-dirty",
        help="Begin with your checkout as it is, uncommitted changes included; it is not touched.",
    ),
]
Parent = Annotated[
    str | None,
    option(
        "--parent",
        metavar="PLAN",
        help="Make it a child of this plan, whose rollback to before now invalidates it.",
        completion=complete_plan,
    ),
]


def create(
    session: Session,
    name: Name,
    *,
    base: Base = None,
    sandbox: ExistingSandbox = None,
    if_exists: OnExisting = IfExists.FAIL,
    max_checkpoints: MaxCheckpoints = None,
    from_dirty: FromDirty = False,
    parent: Parent = None,
    print_: Print = None,
) -> Report:
    """Create a plan with a sandbox of its own, and take its first checkpoint."""
    attached = None if sandbox is None else session.start / sandbox
    to_capture = session.start if from_dirty else attached
    with session.services(make=True, to_capture=to_capture) as services:
        result = services.plans.create(
            name,
            base=base,
            sandbox=attached,
            use_existing=if_exists is IfExists.USE,
            limits=None if max_checkpoints is None else {"max_checkpoints": max_checkpoints},
            from_dirty=from_dirty,
            parent=None if parent is None else services.plans.resolve(parent),
        )
    return created_report(result).only(print_)
