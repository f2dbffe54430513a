"""Ways into a plan's sandbox: to look at it as it is, or to write after repairs."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from backtrail.services.recovery import recover
from backtrail.services.run_crashes import close_crashed, take_over
from backtrail.services.unfinished import finish_interrupted

if TYPE_CHECKING:
    from collections.abc import Generator

    from backtrail.domain.ids import PlanId
    from backtrail.services.workspace import LockedSandbox, Workspace


def held(
    workspace: Workspace, plan: PlanId, *, dry_run: bool, wait: float
) -> AbstractContextManager[LockedSandbox]:
    return (looking if dry_run else writing)(workspace, plan, wait=wait)


@contextmanager
def looking(workspace: Workspace, plan: PlanId, *, wait: float) -> Generator[LockedSandbox]:
    """The locked sandbox as it is: a look repairs nothing, but says what awaits repair."""
    with workspace.locked(plan, wait=wait) as locked:
        with workspace.database.read() as uow:
            unfinished = uow.operations.unfinished(plan)
        workspace.notices.extend(
            f"an interrupted {o.kind} is looked after first by the next command that writes"
            for o in unfinished
        )
        yield locked


@contextmanager
def writing(
    workspace: Workspace, plan: PlanId, *, wait: float, expired_too: bool = False
) -> Generator[LockedSandbox]:
    """The locked sandbox, after repairing whatever an earlier crash left.

    A crashed run's command ends before anything else; with `expired_too` also that of a run whose
    holder exists and does not answer.
    """
    finish_interrupted(workspace, plan, wait=wait)
    with workspace.locked(plan, wait=wait) as locked:
        crashed = take_over(locked, expired_too=expired_too)
        recovered = recover(locked)
        if crashed is not None:
            close_crashed(recovered, crashed)
        yield recovered
