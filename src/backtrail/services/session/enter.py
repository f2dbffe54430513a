"""Entering a plan's sandbox: to look at it as it is, or to write after repairs."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from backtrail.domain.ids import PlanId
    from backtrail.domain.operation import Operation, OperationKind
    from backtrail.domain.plan import Plan
    from backtrail.domain.run import Run
    from backtrail.git.store.store import PrivateStore
    from backtrail.services.session.context import LockedSandbox, Workspace


class FinishCreation(Protocol):
    """Finishes, or takes back, a creation that was interrupted."""

    def __call__(self, workspace: Workspace, plan_id: PlanId, *, wait: float) -> None: ...


class TakeOver(Protocol):
    """Makes a crashed run ours, if there is one, and ends what is left of its command."""

    def __call__(self, locked: LockedSandbox, *, expired_too: bool = False) -> Run | None: ...


@dataclass(frozen=True, slots=True)
class Repairs:
    """What is done about the interrupted before anybody writes; `bootstrap` puts them together."""

    finish_creation: FinishCreation
    finishers: Mapping[OperationKind, Callable[[Workspace, PrivateStore, Plan, Operation], object]]
    """For operations that make or unmake a sandbox, which need not be there."""
    take_over: TakeOver
    recover: Callable[[LockedSandbox], LockedSandbox]
    close_crashed: Callable[[LockedSandbox, Run], None]


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
    repairs = workspace.repairs
    finish_interrupted(workspace, plan, wait=wait)
    with workspace.locked(plan, wait=wait) as locked:
        crashed = repairs.take_over(locked, expired_too=expired_too)
        recovered = repairs.recover(locked)
        if crashed is not None:
            repairs.close_crashed(recovered, crashed)
        yield recovered


def finish_interrupted(workspace: Workspace, plan_id: PlanId, *, wait: float) -> None:
    """Finish, or take back, a creation, removal, purge or restore that was interrupted."""
    repairs = workspace.repairs
    repairs.finish_creation(workspace, plan_id, wait=wait)
    plan = workspace.plan(plan_id)
    if not _waiting(workspace, plan_id):
        return
    with workspace.holding(plan.sandbox, wait=wait) as store:
        # Another process may have finished it while this one waited for the lock.
        for operation in _waiting(workspace, plan_id):
            finish = repairs.finishers.get(operation.kind)
            if finish is not None:
                finish(workspace, store, workspace.plan(plan_id), operation)


def _waiting(workspace: Workspace, plan_id: PlanId) -> list[Operation]:
    with workspace.database.read() as uow:
        found = uow.operations.unfinished(plan_id)
    return [operation for operation in found if operation.makes_or_unmakes_sandbox]
