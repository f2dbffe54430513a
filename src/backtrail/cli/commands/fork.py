"""`plan fork`, `plan checkpoint branch` and `plan checkpoint export`: a state taken elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import (
    CHECKPOINT_HELP,
    PlanOption,
    Print,
    argument,
    option,
    some_path,
)
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.checkpoints import branched_report, exported_report
from backtrail.cli.views.plans import created_report
from backtrail.domain.errors import UsageError
from backtrail.domain.plan import Plan

ForkWords = Annotated[list[str], argument(metavar="[PLAN] CHECKPOINT NAME", help=CHECKPOINT_HELP)]
BranchWords = Annotated[
    list[str], argument(metavar="[PLAN] CHECKPOINT BRANCH", help=CHECKPOINT_HELP)
]
ExportWords = Annotated[
    list[str],
    argument(metavar="[PLAN] CHECKPOINT DIR|FILE.tar[.gz]", help=CHECKPOINT_HELP),
]
Message = Annotated[str, option("-m", "--message", metavar="TEXT", help="The commit message.")]
WithIgnored = Annotated[
    bool,
    typer.Option(
        "--with-ignored", help="Also the ignored files that include_ignored made it capture."
    ),
]


def fork(
    session: Session, words: ForkWords, plan_option: PlanOption = None, print_: Print = None
) -> Report:
    """Create a new plan whose sandbox begins in exactly the state of a checkpoint."""
    with session.services() as services:
        finder = Finder(session, services, plan_option, removed=True)
        found, reference, name = _two(finder, words, "the new plan's name")
        result = services.lifecycle.fork(found.plan_id, reference, name)
    return created_report(result).only(print_)


def branch(
    session: Session,
    words: BranchWords,
    plan_option: PlanOption = None,
    message: Message = "",
    print_: Print = None,
) -> Report:
    """Make a checkpoint an ordinary branch, as git itself would commit its files."""
    with session.services() as services:
        finder = Finder(session, services, plan_option, removed=True)
        found, reference, name = _two(finder, words, "a name for the branch")
        result = services.lifecycle.branch(found.plan_id, reference, name, message=message)
    return branched_report(result).only(print_)


def export(
    session: Session,
    words: ExportWords,
    plan_option: PlanOption = None,
    with_ignored: WithIgnored = False,
    print_: Print = None,
) -> Report:
    """Write a checkpoint's files to a new directory or archive; nothing is overwritten."""
    with session.services() as services:
        finder = Finder(session, services, plan_option, removed=True)
        found, reference, name = _two(finder, words, "a directory or a .tar file")
        given = session.start / some_path(name)
        # Links above it are the user's own ways; the last part is never followed.
        target = Path(given.parent.resolve(), given.name)
        result = services.lifecycle.export(found.plan_id, reference, target, ignored=with_ignored)
    return exported_report(result).only(print_)


def _two(finder: Finder, words: list[str], second: str) -> tuple[Plan, str, str]:
    found, rest = finder.plan_and_words(words, most=2)
    if len(rest) < 2:
        raise UsageError(
            f"this needs a checkpoint and {second}",
            hint=f"plan checkpoint list {found.name} shows the checkpoints",
        )
    return found, rest[0], rest[1]
