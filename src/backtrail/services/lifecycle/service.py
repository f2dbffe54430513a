"""LifecycleService: cancelling, removing, restoring and forking plans, and taking states out."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError, SandboxInvalidError
from backtrail.domain.operation import OperationKind
from backtrail.domain.plan import PlanState, RemovalResult, StateChange
from backtrail.services.checkpoints.export import branch_checkpoint, export_checkpoint
from backtrail.services.lifecycle.purge import preview_purge, purge_plan
from backtrail.services.lifecycle.remove import preview_removal, remove_plan
from backtrail.services.lifecycle.restore import finished_restore, restore_plan
from backtrail.services.plans.fork import fork_plan
from backtrail.services.retention.prune import refuse_while_operating
from backtrail.services.session.context import DEFAULT_WAIT, read_rows
from backtrail.services.session.enter import finish_interrupted, writing
from backtrail.services.session.guards import check_no_run
from backtrail.services.session.journal import Entry, log_done
from backtrail.services.session.missing_sandbox import refuse_removed

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.ids import PlanId
    from backtrail.domain.plan import BranchResult, ExportResult, Phase, Plan, RestoreResult
    from backtrail.domain.rollback import CreatedPlan
    from backtrail.services.session.context import Workspace
    from backtrail.storage.database import UnitOfWork


class LifecycleService:
    """What becomes of the plans of one repository."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def cancel(self, plan: PlanId, *, reason: str = "", wait: float = DEFAULT_WAIT) -> StateChange:
        """Mark a plan as cancelled; its sandbox and its checkpoints stay."""
        self._repair(plan, wait)
        rows = read_rows(self._workspace, plan)
        check_no_run(self._workspace, rows.plan, rows.run, end="plan abort")
        return cancel_plan(self._workspace, plan, reason=reason, wait=wait)

    def reopen(self, plan: PlanId, *, reason: str = "", wait: float = DEFAULT_WAIT) -> StateChange:
        """Take a cancellation back."""
        self._repair(plan, wait)
        return reopen_plan(self._workspace, plan, reason=reason, wait=wait)

    def remove(
        self,
        plan: PlanId,
        *,
        keep_branch: bool = False,
        dry_run: bool = False,
        wait: float = DEFAULT_WAIT,
    ) -> RemovalResult:
        """Remove a plan; its sandbox is set aside and its checkpoints stay."""
        ws = self._workspace
        if dry_run:
            return preview_removal(ws, plan, keep_branch=keep_branch, wait=wait)
        self._repair(plan, wait)
        return remove_plan(ws, plan, keep_branch=keep_branch, wait=wait)

    def purge(
        self,
        plan: PlanId,
        *,
        keep_branch: bool = False,
        files_only: bool = False,
        dry_run: bool = False,
        wait: float = DEFAULT_WAIT,
    ) -> RemovalResult:
        """Remove a plan if it is not, then delete what is kept of it: this cannot be undone."""
        ws = self._workspace
        if not dry_run:
            finish_interrupted(ws, plan, wait=wait)
        removed = _already_removed(ws, plan)
        if removed is None:
            removed = self.remove(plan, keep_branch=keep_branch, dry_run=dry_run, wait=wait)
        if dry_run:
            return replace(
                removed, purge=preview_purge(ws, ws.plan(plan), removed, files_only=files_only)
            )
        return replace(removed, purge=purge_plan(ws, plan, files_only=files_only, wait=wait))

    def restore(
        self,
        plan: PlanId,
        *,
        path: Path | None = None,
        dry_run: bool = False,
        wait: float = DEFAULT_WAIT,
    ) -> RestoreResult:
        """Bring a removed or destroyed sandbox back from the plan's latest checkpoint."""
        ws = self._workspace
        with ws.database.read() as uow:
            waiting = [
                o for o in uow.operations.unfinished(plan) if o.kind is OperationKind.RESTORE
            ]
        if not dry_run:
            self._repair(plan, wait)
        for operation in waiting:
            result = finished_restore(ws, operation)
            if result is not None:
                return result
        return restore_plan(ws, plan, path=path, dry_run=dry_run, wait=wait)

    def fork(self, plan: PlanId, reference: str, name: str) -> CreatedPlan:
        """A new plan whose sandbox begins in exactly the state of a checkpoint."""
        return fork_plan(self._workspace, plan, reference, name)

    def branch(
        self, plan: PlanId, reference: str, branch: str, *, message: str = ""
    ) -> BranchResult:
        """A checkpoint as an ordinary branch of the user's repository."""
        return branch_checkpoint(self._workspace, plan, reference, branch, message)

    def export(
        self, plan: PlanId, reference: str, target: Path, *, ignored: bool = False
    ) -> ExportResult:
        """A checkpoint's files as a new directory, or as a new `.tar` or `.tar.gz`."""
        return export_checkpoint(self._workspace, plan, reference, target, ignored=ignored)

    def _repair(self, plan: PlanId, wait: float) -> None:
        """Whatever an earlier crash left; a sandbox that is gone leaves nothing to repair."""
        finish_interrupted(self._workspace, plan, wait=wait)
        if self._workspace.plan(plan).state is not PlanState.REMOVED:
            with suppress(SandboxInvalidError), writing(self._workspace, plan, wait=wait):
                pass


def _already_removed(ws: Workspace, plan_id: PlanId) -> RemovalResult | None:
    plan = ws.plan(plan_id)
    if plan.state is not PlanState.REMOVED:
        return None
    return RemovalResult(
        plan=plan,
        dry_run=False,
        fate=None,
        safety_checkpoint=None,
        set_aside=None,
        set_aside_bytes=None,
        branch=plan.sandbox.branch,
        branch_deleted=False,
    )


def cancel_plan(ws: Workspace, plan_id: PlanId, *, reason: str, wait: float) -> StateChange:
    """Say that nothing more is to come of a plan; its sandbox and checkpoints stay."""
    with ws.holding(ws.plan(plan_id).sandbox, wait=wait), ws.database.write() as uow:
        plan = _idle(uow, plan_id)
        if plan.state is PlanState.CANCELLED:
            return StateChange(plan, changed=False)
        if plan.state.end:
            raise RefusedError(
                f"plan {plan.name!r} {plan.state.end}: there is nothing to cancel",
                hint=f"plan remove {plan.name} removes it",
            )
        entry = Entry(OperationKind.CANCEL, reason=reason, state_after=PlanState.CANCELLED)
        return _change(ws, uow, plan, entry, plan.phase, PlanState.CANCELLED)


def reopen_plan(ws: Workspace, plan_id: PlanId, *, reason: str, wait: float) -> StateChange:
    """Take a cancellation back: phase and state are what they were before it."""
    with ws.holding(ws.plan(plan_id).sandbox, wait=wait), ws.database.write() as uow:
        plan = _idle(uow, plan_id)
        if plan.state is not PlanState.CANCELLED:
            raise RefusedError(
                f"plan {plan.name!r} is not cancelled: it is {plan.state}",
                hint="there is nothing to take back",
            )
        *_, last = uow.operations.of_kinds(plan_id, (OperationKind.CANCEL,))
        state = last.state_before
        entry = Entry(
            OperationKind.REOPEN, reason=reason, phase_after=last.phase_before, state_after=state
        )
        return _change(ws, uow, plan, entry, last.phase_before, state)


def _idle(uow: UnitOfWork, plan_id: PlanId) -> Plan:
    plan = uow.plans.lock(plan_id)
    refuse_removed(plan)
    refuse_while_operating(uow, plan)
    return plan


def _change(
    ws: Workspace, uow: UnitOfWork, plan: Plan, entry: Entry, phase: Phase, state: PlanState
) -> StateChange:
    log_done(ws, uow, plan, entry)
    uow.plans.set_state(plan.plan_id, phase, state)
    return StateChange(uow.plans.get(plan.plan_id), changed=True)
