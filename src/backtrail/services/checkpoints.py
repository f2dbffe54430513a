"""CheckpointService: recording states of a sandbox and bringing them back."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import (
    PROTOCOL_TYPES,
    Checkpoint,
    CheckpointRequest,
    check_label,
)
from backtrail.domain.errors import NotFoundError, RefusedError, UsageError
from backtrail.domain.operation import OperationKind, Stack
from backtrail.domain.plan import PlanState
from backtrail.domain.rollback import DiffResult, RollbackResult
from backtrail.git.capture import Camera
from backtrail.git.diff import changed_files, patch_text
from backtrail.git.identity import located
from backtrail.services.creation import check_label_free, create_checkpoint
from backtrail.services.journal import Entry, log_done
from backtrail.services.plan_creation import finish_creation
from backtrail.services.recovery import recover
from backtrail.services.references import find_checkpoint
from backtrail.services.rollback import (
    Order,
    carry_out,
    preview,
    rollback_order,
    take_back_order,
)
from backtrail.services.workspace import DEFAULT_WAIT, LockedSandbox, Workspace

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from backtrail.domain.ids import PlanId
    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan


class CheckpointService:
    """Checkpoints of the plans of one repository."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def create_checkpoint(
        self,
        plan: PlanId,
        request: CheckpointRequest | None = None,
        *,
        wait: float = DEFAULT_WAIT,
    ) -> Checkpoint:
        """Record the sandbox as it is now."""
        request = request or CheckpointRequest()
        self._check_request(plan, request)
        with self._writing(plan, wait=wait) as locked:
            entry = Entry(OperationKind.CHECKPOINT, reason=request.reason)
            return create_checkpoint(locked, request, log=entry).checkpoint

    def list_checkpoints(self, plan: PlanId, *, include_all: bool = False) -> list[Checkpoint]:
        """Live checkpoints, oldest first; all of them with `include_all`."""
        with self._workspace.database.read() as uow:
            return uow.checkpoints.list(
                uow.plans.get(plan).plan_id,
                include_superseded=include_all,
                include_tombstones=include_all,
            )

    def get_checkpoint(self, plan: PlanId, reference: str) -> Checkpoint:
        """The checkpoint that a reference names."""
        with self._workspace.database.read() as uow:
            return find_checkpoint(uow, uow.plans.get(plan), reference)

    def rollback_to_checkpoint(
        self,
        plan: PlanId,
        reference: str,
        *,
        paths: Sequence[str] = (),
        dry_run: bool = False,
        move_branch: bool = False,
        reason: str = "",
        wait: float = DEFAULT_WAIT,
    ) -> RollbackResult:
        """Bring a checkpoint back exactly and prove it; with `paths`, only those."""
        # A wrong reference is told before anything waits for a lock.
        self.get_checkpoint(plan, reference)
        with self._held(plan, dry_run=dry_run, wait=wait) as locked:
            order = rollback_order(
                self.get_checkpoint(plan, reference),
                paths=_checked_paths(paths),
                move_branch=move_branch,
                reason=reason,
            )
            return _perform(locked, order, dry_run=dry_run)

    def undo(
        self, plan: PlanId, *, dry_run: bool = False, wait: float = DEFAULT_WAIT
    ) -> RollbackResult:
        """Take the last rollback (or redo) back."""
        with self._held(plan, dry_run=dry_run, wait=wait) as locked:
            return _perform(locked, take_back_order(locked, Stack.UNDO), dry_run=dry_run)

    def redo(
        self, plan: PlanId, *, dry_run: bool = False, wait: float = DEFAULT_WAIT
    ) -> RollbackResult:
        """Take the last undo back."""
        with self._held(plan, dry_run=dry_run, wait=wait) as locked:
            return _perform(locked, take_back_order(locked, Stack.REDO), dry_run=dry_run)

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
        old_tree = _restorable_commit(old)
        new_tree = _restorable_commit(new) if new else self._tree_now(row)
        return DiffResult(
            plan=row,
            from_checkpoint=old,
            to_checkpoint=new,
            files=changed_files(ws.store, old_tree, new_tree),
            patch=patch_text(ws.store, old_tree, new_tree) if patch else None,
        )

    def set_label(self, plan: PlanId, reference: str, label: str | None) -> Checkpoint:
        """Give a checkpoint a label, or take its label away."""
        ws = self._workspace
        if label is not None:
            check_label(label)
        with self._writing(plan, wait=DEFAULT_WAIT), ws.database.write() as uow:
            row = uow.plans.lock(plan)
            checkpoint = find_checkpoint(uow, row, reference)
            if label is not None:
                check_label_free(uow, row, label, checkpoint)
            uow.checkpoints.set_label(checkpoint.checkpoint_id, label)
            entry = Entry(OperationKind.LABEL, reason=label or "", target=checkpoint.checkpoint_id)
            log_done(ws, uow, row, entry)
        return self.get_checkpoint(plan, checkpoint.checkpoint_id)

    def list_operations(self, plan: PlanId, *, limit: int | None = None) -> list[Operation]:
        """The log of the plan, newest first."""
        with self._workspace.database.read() as uow:
            return uow.operations.list(uow.plans.get(plan).plan_id, limit)

    def _held(
        self, plan: PlanId, *, dry_run: bool, wait: float
    ) -> AbstractContextManager[LockedSandbox]:
        return self._looking(plan, wait=wait) if dry_run else self._writing(plan, wait=wait)

    @contextmanager
    def _looking(self, plan: PlanId, *, wait: float) -> Generator[LockedSandbox]:
        """The locked sandbox as it is: a look repairs nothing, but says what awaits repair."""
        with self._workspace.locked(plan, wait=wait) as locked:
            with self._workspace.database.read() as uow:
                unfinished = uow.operations.unfinished(plan)
            self._workspace.notices.extend(
                f"an interrupted {o.kind} is looked after first by the next command that writes"
                for o in unfinished
            )
            yield locked

    @contextmanager
    def _writing(self, plan: PlanId, *, wait: float) -> Generator[LockedSandbox]:
        """The locked sandbox, after repairing whatever an earlier crash left."""
        finish_creation(self._workspace, plan, wait=wait)
        with self._workspace.locked(plan, wait=wait) as locked:
            yield recover(locked)

    def _check_request(self, plan: PlanId, request: CheckpointRequest) -> None:
        if request.checkpoint_type in PROTOCOL_TYPES:
            raise UsageError(
                f"checkpoints of type {str(request.checkpoint_type)!r} are made by Backtrail alone",
                hint="use manual or turn",
            )
        with self._workspace.database.read() as uow:
            row = uow.plans.get(plan)
            if row.state is PlanState.REMOVED:
                raise RefusedError(f"plan {row.name!r} has been removed")
            if request.label is not None:
                check_label_free(uow, row, check_label(request.label), None)
            decision = request.decision_id
            if decision is not None and not uow.decisions.exists(row.plan_id, decision):
                raise NotFoundError(f"plan {row.name!r} has no decision {decision!r}")

    def _tree_now(self, plan: Plan) -> str:
        ws = self._workspace
        return Camera(ws.store, located(plan.sandbox, ws.common_dir), ws.user).peek().tree


def _perform(locked: LockedSandbox, order: Order, *, dry_run: bool) -> RollbackResult:
    return preview(locked, order) if dry_run else carry_out(locked, order)


def _restorable_commit(checkpoint: Checkpoint) -> str:
    if not checkpoint.restorable or checkpoint.sandbox_ref is None:
        raise RefusedError(
            f"checkpoint {checkpoint.seq} cannot be compared: it is {checkpoint.state}",
            hint="plan checkpoint list shows the ones that can",
        )
    return checkpoint.sandbox_ref


def _checked_paths(paths: Sequence[str]) -> tuple[str, ...]:
    for path in paths:
        parts = path.split("/")
        if path.startswith("/") or any(part in ("", ".", "..", ".git") for part in parts):
            raise UsageError(
                f"{path!r} is not a path inside the sandbox",
                hint="leave --path out to restore everything",
            )
    return tuple(dict.fromkeys(paths))
