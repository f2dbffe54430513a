"""`plan checkpoint list`, `show`, `label`, `pin` and `unpin`."""

from typing import Annotated

import typer

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import CHECKPOINT_HELP, PlanArgument, PlanOption, Print, argument
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.checkpoints import listed_report, saved_report, shown_report
from backtrail.domain.errors import UsageError

LATEST = "latest"
OneCheckpoint = Annotated[list[str], argument(metavar="[PLAN] CHECKPOINT", help=CHECKPOINT_HELP)]


def list_checkpoints(
    session: Session,
    plan: PlanArgument = None,
    plan_option: PlanOption = None,
    all_: Annotated[
        bool, typer.Option("--all", "-a", help="Superseded and pruned ones too.")
    ] = False,
) -> Report:
    """List the checkpoints of a plan's timeline, oldest first."""
    with session.services() as services:
        found = Finder(session, services, plan_option).plan(plan)
        checkpoints = services.checkpoints.list_checkpoints(found.plan_id, include_all=all_)
    return listed_report(found, checkpoints)


def show(
    session: Session,
    words: Annotated[
        list[str] | None,
        argument(metavar="[PLAN] [CHECKPOINT]", help=f"{CHECKPOINT_HELP} Else the latest."),
    ] = None,
    plan_option: PlanOption = None,
    print_: Print = None,
) -> Report:
    """Show one checkpoint."""
    with session.services() as services:
        finder = Finder(session, services, plan_option)
        found, rest = finder.plan_and_words(words or (), most=1)
        reference = rest[0] if rest else LATEST
        checkpoint = services.checkpoints.get_checkpoint(found.plan_id, reference)
    return shown_report(checkpoint).only(print_)


def label(
    session: Session,
    words: Annotated[
        list[str],
        argument(metavar="[PLAN] CHECKPOINT [LABEL]", help=CHECKPOINT_HELP),
    ],
    plan_option: PlanOption = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the label.")] = False,
) -> Report:
    """Give a checkpoint a label, or remove it."""
    needed = 1 if clear else 2
    with session.services() as services:
        found, rest = Finder(session, services, plan_option).plan_and_words(words, most=needed)
        if len(rest) < needed:
            wanted = "a checkpoint" if clear else "a checkpoint and a label"
            raise UsageError(f"this needs {wanted}", hint="--clear removes a label")
        new_label = None if clear else rest[1]
        checkpoint = services.checkpoints.set_label(found.plan_id, rest[0], new_label)
    said = "Removed the label of checkpoint " if clear else "Labelled checkpoint "
    return saved_report(found, checkpoint, said)


def pin(session: Session, words: OneCheckpoint, plan_option: PlanOption = None) -> Report:
    """Keep a checkpoint whatever the plan's limits say."""
    return _pinned(session, words, plan_option, pinned=True)


def unpin(session: Session, words: OneCheckpoint, plan_option: PlanOption = None) -> Report:
    """Let a checkpoint go when the plan's limits say so."""
    return _pinned(session, words, plan_option, pinned=False)


def _pinned(session: Session, words: list[str], plan_option: str | None, *, pinned: bool) -> Report:
    with session.services() as services:
        found, rest = Finder(session, services, plan_option).plan_and_words(words, most=1)
        if not rest:
            raise UsageError(
                "no checkpoint is named",
                hint=f"name one after the plan; plan checkpoint list {found.name} shows them",
            )
        checkpoint = services.checkpoints.set_pinned(found.plan_id, rest[0], pinned=pinned)
    return saved_report(
        found, checkpoint, "Pinned checkpoint " if pinned else "Unpinned checkpoint "
    )
