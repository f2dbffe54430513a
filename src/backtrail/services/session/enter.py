"""Entering a plan's sandbox: to look at it as it is, or to write after repairs."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from backtrail.domain.operation import OperationKind
from backtrail.domain.plan import Plan
from backtrail.services.session.context import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from backtrail.domain.ids import PlanId
    from backtrail.domain.operation import Operation
    from backtrail.domain.run import Run
    from backtrail.git.store.store import PrivateStore
    from backtrail.services.session.context import EnteredSandbox, PlanRows, Workspace


class FinishCreation(Protocol):
    """Finishes, or takes back, a creation that was interrupted."""

    def __call__(self, workspace: Workspace, plan: Plan, *, wait: float) -> None: ...


class TakeOver(Protocol):
    """Makes a crashed run ours, if there is one, and ends what is left of its command."""

    def __call__(self, locked: EnteredSandbox, *, expired_too: bool = False) -> Run | None: ...


@dataclass(frozen=True, slots=True)
class Repairs:
    """What is done about the interrupted before anybody writes; `bootstrap` puts them together."""

    finish_creation: FinishCreation
    finishers: Mapping[OperationKind, Callable[[Workspace, PrivateStore, Plan, Operation], object]]
    """For operations that make or unmake a sandbox, which need not be there."""
    take_over: TakeOver
    recover: Callable[[EnteredSandbox], EnteredSandbox]
    close_crashed: Callable[[EnteredSandbox, Run], None]


def held(
    workspace: Workspace, plan: PlanId | Plan, *, dry_run: bool, wait: float
) -> AbstractContextManager[EnteredSandbox]:
    return (looking if dry_run else writing)(workspace, plan, wait=wait)


@contextmanager
def looking(workspace: Workspace, plan: PlanId | Plan, *, wait: float) -> Generator[EnteredSandbox]:
    """The locked sandbox as it is: a look repairs nothing, but says what awaits repair."""
    with workspace.locked(plan, wait=wait) as locked:
        workspace.notices.extend(
            f"an interrupted {o.kind} is looked after first by the next command that writes"
            for o in locked.rows.unfinished
        )
        yield locked


@contextmanager
def writing(
    workspace: Workspace, plan: PlanId | Plan, *, wait: float, expired_too: bool = False
) -> Generator[EnteredSandbox]:
    """The locked sandbox, after repairing whatever an earlier crash left.

    A crashed run's command ends before anything else; with `expired_too` also that of a run whose
    holder exists and does not answer.
    """
    repairs = workspace.repairs
    known = workspace.known(plan)
    with ExitStack() as stack:
        store, rows = _locked_rows(stack, workspace, known, wait)
        if rows.waiting:
            # They have locks of their own, and the sandbox need not be there before their end.
            stack.close()
            finish_interrupted(workspace, known.plan_id, wait=wait)
            store, rows = _locked_rows(stack, workspace, known, wait)
        locked = workspace.entered(rows, store)
        crashed = repairs.take_over(locked, expired_too=expired_too)
        locked = repairs.recover(locked)
        if crashed is not None:
            repairs.close_crashed(locked, crashed)
            locked = replace(locked, rows=replace(locked.rows, run=None))
        yield locked


def _locked_rows(
    stack: ExitStack, workspace: Workspace, plan: Plan, wait: float
) -> tuple[PrivateStore, PlanRows]:
    """The lock first: another process may move the plan on while this one waits."""
    store = stack.enter_context(workspace.holding(plan.sandbox, wait=wait))
    return store, read_rows(workspace, plan.plan_id)


def finish_interrupted(workspace: Workspace, plan_id: PlanId, *, wait: float) -> None:
    """Finish, or take back, a creation, removal, purge or restore that was interrupted."""
    repairs, rows = workspace.repairs, read_rows(workspace, plan_id)
    if any(operation.kind is OperationKind.CREATE_PLAN for operation in rows.waiting):
        repairs.finish_creation(workspace, rows.plan, wait=wait)
        rows = read_rows(workspace, plan_id)
    if not rows.waiting:
        return
    with workspace.holding(rows.plan.sandbox, wait=wait) as store:
        # Another process may have finished it while this one waited for the lock.
        for operation in read_rows(workspace, plan_id).waiting:
            finish = repairs.finishers.get(operation.kind)
            if finish is not None:
                finish(workspace, store, workspace.plan(plan_id), operation)
