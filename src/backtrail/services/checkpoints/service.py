"""CheckpointService: recording states of a sandbox and bringing them back."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import Checkpoint, CheckpointRequest, check_label
from backtrail.domain.errors import RefusedError
from backtrail.domain.history import History, View
from backtrail.domain.operation import OperationKind, Stack
from backtrail.domain.plan import Plan
from backtrail.domain.rollback import DiffResult, RollbackRequest, RollbackResult
from backtrail.git.checkpoint.commit import read_checkpoint
from backtrail.git.compare.diff import patch_text
from backtrail.git.compare.states import changes_between
from backtrail.services.checkpoints.history import read_history
from backtrail.services.references import find_checkpoint
from backtrail.services.retention.prune import (
    chosen_by_hand,
    decision_now,
    keep_within_limits,
    remove,
)
from backtrail.services.rollback.execute import carry_out
from backtrail.services.rollback.order import Execution, Order, rollback_order, take_back_order
from backtrail.services.rollback.preview import preview
from backtrail.services.runs.admission import end_live_run
from backtrail.services.session.context import DEFAULT_WAIT, EnteredSandbox, Workspace
from backtrail.services.session.enter import held, writing
from backtrail.services.session.guards import check_restorable
from backtrail.services.session.journal import Entry, log_done
from backtrail.services.snapshot.create import create_checkpoint
from backtrail.services.snapshot.requests import check_label_free, checked_paths, checked_request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backtrail.domain.ids import CommitId, PlanId
    from backtrail.domain.operation import Operation
    from backtrail.domain.retention import PruneResult, RetentionDecision
    from backtrail.storage.database import UnitOfWork


class CheckpointService:
    """Checkpoints of the plans of one repository."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def create_checkpoint(
        self,
        plan: PlanId | Plan,
        request: CheckpointRequest | None = None,
        *,
        wait: float = DEFAULT_WAIT,
    ) -> Checkpoint:
        """Record the sandbox as it is now."""
        request = checked_request(self._workspace, plan, request or CheckpointRequest())
        with writing(self._workspace, plan, wait=wait) as locked:
            entry = Entry(OperationKind.CHECKPOINT, reason=request.reason)
            made = create_checkpoint(locked, request, log=entry)
            keep_within_limits(locked)
            return made.checkpoint

    def list_checkpoints(self, plan: PlanId, *, include_all: bool = False) -> list[Checkpoint]:
        """Live checkpoints, oldest first; all of them with `include_all`."""
        with self._workspace.database.read() as uow:
            return uow.checkpoints.list(
                uow.plans.get(plan).plan_id,
                include_superseded=include_all,
                include_tombstones=include_all,
            )

    def get_checkpoint(self, plan: PlanId | Plan, reference: str) -> Checkpoint:
        """The checkpoint that a reference names."""
        with self._workspace.database.read() as uow:
            row = plan if isinstance(plan, Plan) else uow.plans.get(plan)
            return find_checkpoint(uow, row, reference)

    def rollback_to_checkpoint(
        self,
        plan: PlanId | Plan,
        reference: str,
        request: RollbackRequest | None = None,
        *,
        dry_run: bool = False,
        abort_run: bool = False,
        wait: float = DEFAULT_WAIT,
    ) -> RollbackResult:
        """Bring a checkpoint back exactly and prove it; some paths alone if that is asked for."""
        request = request or RollbackRequest()
        # A wrong reference is told before anything waits for a lock.
        self.get_checkpoint(plan, reference)
        how = Execution(dry_run=dry_run, abort_run=abort_run, wait=wait)
        return self.execute(plan, lambda locked: self._order(locked, reference, request), how)

    def undo(
        self,
        plan: PlanId | Plan,
        *,
        dry_run: bool = False,
        during_merge: bool = False,
        abort_run: bool = False,
        wait: float = DEFAULT_WAIT,
    ) -> RollbackResult:
        """Take the last rollback (or redo) back."""
        how = Execution(dry_run=dry_run, abort_run=abort_run, wait=wait)
        order = partial(take_back_order, stack=Stack.UNDO, during_merge=during_merge)
        return self.execute(plan, order, how)

    def redo(
        self,
        plan: PlanId | Plan,
        *,
        dry_run: bool = False,
        during_merge: bool = False,
        abort_run: bool = False,
        wait: float = DEFAULT_WAIT,
    ) -> RollbackResult:
        """Take the last undo back."""
        how = Execution(dry_run=dry_run, abort_run=abort_run, wait=wait)
        order = partial(take_back_order, stack=Stack.REDO, during_merge=during_merge)
        return self.execute(plan, order, how)

    def execute(
        self, plan: PlanId | Plan, order_for: Callable[[EnteredSandbox], Order], how: Execution
    ) -> RollbackResult:
        """Enter the sandbox, and carry out, or foretell, what is ordered for it as it is then."""
        if how.abort_run and not how.dry_run:
            end_live_run(self._workspace, self._workspace.known(plan).plan_id)
        with held(self._workspace, plan, dry_run=how.dry_run, wait=how.wait) as locked:
            order = order_for(locked)
            if how.dry_run:
                return preview(locked, order, abort_run=how.abort_run)
            return carry_out(locked, order)

    def _order(self, locked: EnteredSandbox, reference: str, request: RollbackRequest) -> Order:
        with locked.workspace.database.read() as uow:
            target = find_checkpoint(uow, locked.plan, reference)
        return rollback_order(target, replace(request, paths=checked_paths(request.paths)))

    def diff(
        self,
        plan: PlanId,
        from_reference: str | None = None,
        to_reference: str | None = None,
        *,
        patch: bool = False,
    ) -> DiffResult:
        """What differs between two checkpoints, or between one and the sandbox as it is now."""
        ws = self._workspace
        with ws.database.read() as uow:
            row = uow.plans.get(plan)
            old = find_checkpoint(uow, row, from_reference or "latest")
            new = find_checkpoint(uow, row, to_reference) if to_reference else None
        before = read_checkpoint(ws.store, _restorable_commit(old)).captured
        ws.progress("comparing")
        after = (
            read_checkpoint(ws.store, _restorable_commit(new)).captured
            if new
            else ws.camera(ws.located(row)).peek()
        )
        return DiffResult(
            plan=row,
            from_checkpoint=old,
            to_checkpoint=new,
            files=changes_between(ws.store, before, after),
            patch=patch_text(ws.store, before.tree, after.tree) if patch else None,
        )

    def set_label(self, plan: PlanId, reference: str, label: str | None) -> Checkpoint:
        """Give a checkpoint a label, or take its label away."""
        ws = self._workspace
        if label is not None:
            check_label(label)
        with writing(ws, plan, wait=DEFAULT_WAIT), ws.database.write() as uow:
            row = uow.plans.lock(plan)
            checkpoint = find_checkpoint(uow, row, reference)
            if label is not None:
                check_restorable(checkpoint, done="labelled")
                check_label_free(uow, row, label, checkpoint)
            uow.checkpoints.set_label(checkpoint.checkpoint_id, label)
            entry = Entry(OperationKind.LABEL, reason=label or "", target=checkpoint.checkpoint_id)
            log_done(ws, uow, row, entry)
        return self.get_checkpoint(plan, checkpoint.checkpoint_id)

    def set_pinned(self, plan: PlanId, reference: str, *, pinned: bool) -> Checkpoint:
        """Keep a checkpoint whatever the limits say, or no longer."""
        ws = self._workspace
        with writing(ws, plan, wait=DEFAULT_WAIT), ws.database.write() as uow:
            row = uow.plans.lock(plan)
            checkpoint = find_checkpoint(uow, row, reference)
            if pinned:
                check_restorable(checkpoint, done="pinned")
            uow.checkpoints.set_pinned(checkpoint.checkpoint_id, pinned=pinned)
            kind = OperationKind.PIN if pinned else OperationKind.UNPIN
            log_done(ws, uow, row, Entry(kind, target=checkpoint.checkpoint_id))
        return self.get_checkpoint(plan, checkpoint.checkpoint_id)

    def prune(
        self,
        plan: PlanId,
        *,
        max_checkpoints: int | None = None,
        dry_run: bool = False,
        wait: float = DEFAULT_WAIT,
    ) -> PruneResult:
        """Remove what the plan's limits, or this one, do not let stay."""

        def choose(uow: UnitOfWork, row: Plan) -> RetentionDecision:
            return decision_now(self._workspace, uow, row, max_checkpoints=max_checkpoints)

        return remove(
            self._workspace, plan, choose, OperationKind.PRUNE, dry_run=dry_run, wait=wait
        )

    def delete_checkpoints(
        self,
        plan: PlanId,
        references: Sequence[str],
        *,
        dry_run: bool = False,
        wait: float = DEFAULT_WAIT,
    ) -> PruneResult:
        """Remove these checkpoints, unless one of them is needed; then none is removed."""
        return remove(
            self._workspace,
            plan,
            lambda uow, row: chosen_by_hand(self._workspace, uow, row, references),
            OperationKind.DELETE,
            dry_run=dry_run,
            wait=wait,
        )

    def list_operations(self, plan: PlanId, *, limit: int | None = None) -> list[Operation]:
        """The log of the plan, newest first."""
        with self._workspace.database.read() as uow:
            return uow.operations.list(uow.plans.get(plan).plan_id, limit)

    def history(self, plan: PlanId, view: View | None = None) -> History:
        """The timeline and what branched off it, newest first."""
        return read_history(self._workspace, plan, view or View())


def _restorable_commit(checkpoint: Checkpoint) -> CommitId:
    if not checkpoint.restorable or checkpoint.sandbox_ref is None:
        raise RefusedError(
            f"checkpoint {checkpoint.seq} cannot be compared: it {checkpoint.what_became_of_it}",
            hint="plan checkpoint list shows the ones that can",
        )
    return checkpoint.sandbox_ref
