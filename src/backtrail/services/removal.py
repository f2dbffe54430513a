"""Removing a plan: a checkpoint first, then the sandbox is set aside and its branch goes.

Nothing is deleted that is not in the store: the directory is moved as it is, and the branch goes
only if a checkpoint keeps the commit that it points at. Whatever is interrupted after `removing`
was written down is finished by the next command.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.errors import BacktrailError, SandboxInvalidError, StorageError
from backtrail.domain.lifecycle import RemovalResult, SandboxFate
from backtrail.domain.operation import OperationKind, OperationState
from backtrail.domain.plan import PlanState, SandboxKind
from backtrail.git.aside import SetAside, move, size_on_disk
from backtrail.git.branches import delete_branch
from backtrail.git.identity import unmark_sandbox
from backtrail.services.creation import create_checkpoint
from backtrail.services.journal import Entry, fail_operation, open_operation
from backtrail.services.recovery import recover
from backtrail.services.removal_survey import Survey, survey

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import PlanId
    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan
    from backtrail.git.store import PrivateStore
    from backtrail.services.workspace import Workspace

SET_ASIDE = "set_aside"
_BRANCH, _COMMIT, _KEPT = "branch", "branch_commit", "branch_kept"


def preview_removal(
    ws: Workspace, plan_id: PlanId, *, keep_branch: bool, wait: float
) -> RemovalResult:
    """What a removal would do; nothing of it is done."""
    with ws.holding(ws.plan(plan_id).sandbox, wait=wait) as store:
        plan = ws.plan(plan_id)
        found = survey(ws, plan, store, keep_branch=keep_branch)
        size = size_on_disk(plan.sandbox.path) if found.fate is SandboxFate.SET_ASIDE else None
        return RemovalResult(
            plan=plan,
            dry_run=True,
            fate=found.fate,
            safety_checkpoint=None,
            set_aside=None,
            set_aside_bytes=size,
            branch=plan.sandbox.branch,
            branch_deleted=found.branch is not None,
            messages=found.messages,
        )


def remove_plan(ws: Workspace, plan_id: PlanId, *, keep_branch: bool, wait: float) -> RemovalResult:
    """Remove a plan so that `plan restore` can bring all of it back."""
    with ws.holding(ws.plan(plan_id).sandbox, wait=wait) as store:
        plan = ws.plan(plan_id)
        found = survey(ws, plan, store, keep_branch=keep_branch)
        if found.locked is not None:
            found = replace(found, locked=recover(found.locked))
        with ws.database.write() as uow:
            entry = Entry(OperationKind.REMOVE, state_after=PlanState.REMOVED)
            operation = open_operation(ws, uow, plan, entry)
        ws.failpoints.reach("remove.opened")
        safety, found = _make_safe(operation, found)
        ws.failpoints.reach("remove.saved")
        operation = _begin(ws, operation, safety, found)
        ws.failpoints.reach("remove.removing")
        try:
            kept = _carry_out(ws, store, plan, operation)
        except StorageError:
            # The rows cannot be told: the operation stays open, and the next command ends it.
            raise
        except BacktrailError as error:
            fail_operation(ws, operation, error.message)
            raise
        return _result(ws, plan, operation, safety, found, branch_kept=kept)


def _make_safe(operation: Operation, found: Survey) -> tuple[Checkpoint | None, Survey]:
    """The `pre_remove` checkpoint; the branch is then known to be kept by it."""
    locked = found.locked
    if locked is None:
        return None, found
    locked.workspace.progress("saving the sandbox as it is")
    request = CheckpointRequest(
        reason="before the plan was removed", checkpoint_type=CheckpointType.PRE_REMOVE
    )
    try:
        made = create_checkpoint(locked, request, operation_id=operation.operation_id)
    except BacktrailError as error:
        fail_operation(locked.workspace, operation, error.message)
        raise
    commit = made.captured.state.git_state.branch_commit if found.branch else None
    return made.checkpoint, replace(found, branch_commit=commit)


def _begin(
    ws: Workspace, operation: Operation, safety: Checkpoint | None, found: Survey
) -> Operation:
    """From here on the removal is finished, whatever happens."""
    aside = found.place(ws)
    result: dict[str, Any] = {
        SET_ASIDE: aside.as_document() if aside else None,
        _BRANCH: found.branch,
        _COMMIT: found.branch_commit,
    }
    safety_id = safety.checkpoint_id if safety else None
    with ws.database.write() as uow:
        uow.operations.update(
            operation.operation_id,
            state=OperationState.RESTORING,
            safety_checkpoint_id=safety_id,
            result=result,
        )
    return replace(
        operation, state=OperationState.RESTORING, safety_checkpoint_id=safety_id, result=result
    )


def _carry_out(ws: Workspace, store: PrivateStore, plan: Plan, operation: Operation) -> bool:
    """Do what the operation says; gives whether a branch that was to go had to stay."""
    aside, sandbox = set_aside_of(operation), plan.sandbox
    if aside is not None:
        # The git directory first: without its worktree, `git worktree prune` would delete it.
        move(aside.git_dir_was, aside.git_dir, aside.git_dir_inode)
        ws.failpoints.reach("remove.unregistered")
        try:
            move(sandbox.path, aside.tree, aside.tree_inode)
        except BacktrailError:
            move(aside.git_dir, aside.git_dir_was)
            raise
        ws.failpoints.reach("remove.moved")
    elif sandbox.kind is SandboxKind.ATTACHED:
        unmark_sandbox(sandbox.git_dir, sandbox.sandbox_id)
    branch, commit = operation.result.get(_BRANCH), operation.result.get(_COMMIT)
    gone = branch is None or commit is None or delete_branch(store, sandbox.git_dir, branch, commit)
    ws.failpoints.reach("remove.branch_deleted")
    with ws.database.write() as uow:
        uow.plans.set_state(plan.plan_id, plan.phase, PlanState.REMOVED)
        uow.operations.update(
            operation.operation_id,
            state=OperationState.DONE,
            result={**operation.result, _KEPT: not gone},
            finished_at=ws.now(),
        )
    ws.failpoints.reach("remove.done")
    return not gone


def set_aside_of(operation: Operation) -> SetAside | None:
    """Where a removal put the sandbox, if it put it anywhere."""
    document = operation.result.get(SET_ASIDE)
    return SetAside.from_document(document) if document else None


def _result(
    ws: Workspace,
    plan: Plan,
    operation: Operation,
    safety: Checkpoint | None,
    found: Survey,
    *,
    branch_kept: bool,
) -> RemovalResult:
    aside = set_aside_of(operation)
    said = found.messages
    if branch_kept:
        said = (*said, f"branch {found.branch} was moved meanwhile and stays")
    tree = aside.tree if aside is not None and aside.tree.is_dir() else None
    return RemovalResult(
        plan=ws.plan(plan.plan_id),
        dry_run=False,
        fate=found.fate,
        safety_checkpoint=safety,
        set_aside=tree,
        set_aside_bytes=size_on_disk(tree) if tree else None,
        branch=plan.sandbox.branch,
        branch_deleted=found.branch_commit is not None and not branch_kept,
        messages=said,
    )


def finish_removal(ws: Workspace, store: PrivateStore, plan: Plan, operation: Operation) -> None:
    """End a removal that was interrupted: forwards once it had begun to change anything."""
    if operation.state is OperationState.OPEN:
        fail_operation(ws, operation, "interrupted before anything was removed")
        ws.notices.append(f"an interrupted removal of plan {plan.name} had not changed anything")
        return
    try:
        _carry_out(ws, store, plan, operation)
    except SandboxInvalidError as error:
        # The command that the user typed finds the sandbox as it is.
        fail_operation(ws, operation, error.message)
        return
    ws.notices.append(f"finished the removal of plan {plan.name} that was interrupted")
