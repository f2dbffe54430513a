"""Removing a plan: a survey, a checkpoint, then the sandbox is set aside and its branch goes.

Nothing is deleted that is not in the store: the directory is moved as it is, and the branch goes
only if a checkpoint keeps the commit that it points at. Whatever is interrupted after `removing`
was written down is finished by the next command.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.errors import (
    BacktrailError,
    RefusedError,
    SandboxGoneError,
    SandboxInvalidError,
    StorageError,
)
from backtrail.domain.operation import OperationKind, OperationState
from backtrail.domain.plan import PlanState, RemovalResult, SandboxFate, SandboxKind
from backtrail.git.checkpoint.commit import read_checkpoint
from backtrail.git.osfiles.locks import wait_for_git
from backtrail.git.store.set_aside import SetAside, move, place_for, size_on_disk
from backtrail.git.user.branches import delete_branch
from backtrail.git.user.checkouts import branch_checked_out_elsewhere
from backtrail.git.user.head import resolve_refs
from backtrail.git.user.identity import registered_git_dir, unmark_sandbox
from backtrail.git.user.worktrees import moved_to
from backtrail.services.recovery.recover import recover
from backtrail.services.session.context import read_rows
from backtrail.services.session.guards import check_sandbox_quiet, refuse_live_run
from backtrail.services.session.journal import Entry, fail_operation, open_operation
from backtrail.services.session.missing_sandbox import refuse_removed
from backtrail.services.snapshot.create import create_checkpoint

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CommitId, PlanId
    from backtrail.domain.operation import Operation
    from backtrail.domain.plan import Plan, Sandbox
    from backtrail.git.store.store import PrivateStore
    from backtrail.services.session.context import EnteredSandbox, PlanRows, Workspace


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is to remove."""

    sandbox: Sandbox
    locked: EnteredSandbox | None
    """The sandbox, if it is there and ours to look at."""
    fate: SandboxFate
    registered: bool = False
    """Whether a directory below `.git/worktrees` has to go with it."""
    branch: str | None = None
    """The branch that goes."""
    branch_commit: CommitId | None = None
    messages: tuple[str, ...] = ()

    def place(self, ws: Workspace) -> SetAside | None:
        """Where it is moved; None if nothing is moved."""
        if self.fate is not SandboxFate.SET_ASIDE and not self.registered:
            return None
        return place_for(ws.layout, self.sandbox, ws.common_dir)


def survey(ws: Workspace, rows: PlanRows, store: PrivateStore, *, keep_branch: bool) -> Survey:
    """Look at a plan that is to be removed; refuses what would disturb somebody."""
    plan = rows.plan
    refuse_removed(plan)
    try:
        locked = ws.entered(rows, store)
    except SandboxInvalidError as error:
        return _without_sandbox(ws, plan, error, keep_branch=keep_branch)
    refuse_live_run(locked, end=f"plan abort {plan.name}")
    sandbox = locked.sandbox
    if sandbox.kind is SandboxKind.ATTACHED:
        return Survey(sandbox, locked, SandboxFate.LEFT_IN_PLACE)
    check_sandbox_quiet(locked)
    _refuse_locked(sandbox)
    branch = None if keep_branch else sandbox.branch
    if branch is not None:
        _refuse_if_elsewhere(ws, sandbox, branch)
        # Deleting it comes last, when the sandbox has gone already.
        lock = ws.common_dir / "packed-refs.lock"
        wait_for_git(lock, "is about to change all branches", store.deadline)
    return Survey(sandbox, locked, SandboxFate.SET_ASIDE, registered=True, branch=branch)


def _refuse_locked(sandbox: Sandbox) -> None:
    if (sandbox.git_dir / "locked").exists():
        raise RefusedError(
            "the sandbox was locked with git worktree lock",
            hint=f"git worktree unlock {str(sandbox.path)!r} unlocks it",
        )


def _refuse_if_elsewhere(ws: Workspace, sandbox: Sandbox, branch: str) -> None:
    elsewhere = branch_checked_out_elsewhere(ws.common_dir, sandbox.git_dir, branch)
    if elsewhere:
        raise RefusedError(
            f"branch {branch!r} is checked out in another worktree as well",
            hint="--keep-branch leaves it, or switch that worktree to another branch",
            details={"git_dir": elsewhere},
        )


def _without_sandbox(
    ws: Workspace, plan: Plan, error: SandboxInvalidError, *, keep_branch: bool
) -> Survey:
    """A plan whose sandbox is gone or something else: no directory is touched."""
    sandbox = plan.sandbox
    if moved_to(ws.common_dir, sandbox) is not None:
        raise error
    there = sandbox.path.exists()
    said = (f"{error.message}: it is left as it is",) if there else ()
    branch = None if keep_branch else sandbox.branch
    commit, why_not = _safe_commit(ws, plan, branch) if branch else (None, None)
    if why_not:
        said = (*said, f"branch {branch} stays: {why_not}")
        branch = commit = None
    gone = isinstance(error, SandboxGoneError) and not there
    git_dir = registered_git_dir(sandbox, ws.common_dir) if gone else None
    return Survey(
        sandbox=replace(sandbox, git_dir=git_dir) if git_dir else sandbox,
        locked=None,
        fate=SandboxFate.LEFT_IN_PLACE if there else SandboxFate.MISSING,
        registered=git_dir is not None,
        branch=branch,
        branch_commit=commit,
        messages=said,
    )


def _safe_commit(ws: Workspace, plan: Plan, branch: str) -> tuple[CommitId | None, str | None]:
    """What the branch points at, and why it may not go: all that is lost must be in the store."""
    ref = f"refs/heads/{branch}"
    commit = resolve_refs(ws.common_dir, [ref]).get(ref)
    if commit is None:
        return None, None
    if branch_checked_out_elsewhere(ws.common_dir, plan.sandbox.git_dir, branch):
        return commit, "it is checked out in another worktree"
    with ws.database.read() as uow:
        latest = uow.checkpoints.latest(plan.plan_id)
    safe = {plan.sandbox.base_commit}
    if latest is not None and latest.sandbox_ref is not None:
        captured = read_checkpoint(ws.store, latest.sandbox_ref).captured
        safe.add(captured.state.git_state.branch_commit)
    return commit, None if commit in safe else "no checkpoint holds what it points at"


SET_ASIDE = "set_aside"
_BRANCH, _COMMIT, _KEPT = "branch", "branch_commit", "branch_kept"


def preview_removal(
    ws: Workspace, plan_id: PlanId, *, keep_branch: bool, wait: float
) -> RemovalResult:
    """What a removal would do; nothing of it is done."""
    with ws.holding(ws.plan(plan_id).sandbox, wait=wait) as store:
        rows = read_rows(ws, plan_id)
        plan, found = rows.plan, survey(ws, rows, store, keep_branch=keep_branch)
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
        rows = read_rows(ws, plan_id)
        plan, found = rows.plan, survey(ws, rows, store, keep_branch=keep_branch)
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
