"""`plan undo` and `plan redo`: they ask nothing, since each can be taken back by the other."""

from collections.abc import Callable

from backtrail.cli.invocation.session import Session
from backtrail.cli.parsing.options import (
    AbortRun,
    DryRun,
    DuringMerge,
    PlanArgument,
    PlanOption,
    Print,
    Wait,
    YesForSymmetry,
)
from backtrail.cli.parsing.target import Finder
from backtrail.cli.render.report import Report
from backtrail.cli.views.rollback import rollback_report


def _walk(name: str, help: str) -> Callable[..., Report]:
    """The command that takes one step back, or forward again."""

    def walk(
        session: Session,
        plan: PlanArgument = None,
        *,
        plan_option: PlanOption = None,
        yes: YesForSymmetry = False,
        dry_run: DryRun = False,
        during_merge: DuringMerge = False,
        abort_run: AbortRun = False,
        wait: Wait = 30.0,
        print_: Print = None,
    ) -> Report:
        del yes
        with session.services() as services:
            found = Finder(session, services, plan_option, destructive=True).plan(plan)
            service = services.checkpoints
            result = (service.undo if name == UNDO else service.redo)(
                found,
                dry_run=dry_run,
                during_merge=during_merge,
                abort_run=abort_run,
                wait=wait,
            )
        return rollback_report(result).only(print_)

    walk.__name__, walk.__doc__ = name, help
    return walk


UNDO, REDO = "undo", "redo"
undo = _walk(UNDO, "Take the last rollback back: files, timeline, phase and state.")
redo = _walk(REDO, "Take the last undo back.")
