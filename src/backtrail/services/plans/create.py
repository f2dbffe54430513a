"""Making a plan: rows, then the worktree, then the initial checkpoint; any crash is resumed."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from time import time_ns
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType, Origin
from backtrail.domain.errors import (
    BacktrailError,
    FailedError,
    GitFailedError,
    RefusedError,
    SandboxInvalidError,
)
from backtrail.domain.operation import OperationKind, OperationState
from backtrail.domain.plan import Plan, PlanState, Sandbox, SandboxKind
from backtrail.domain.rollback import CreatedPlan
from backtrail.domain.tools import Trigger
from backtrail.git.capture.seed import checkout_converts, seed_index
from backtrail.git.ignore.included import copy_files, files_to_copy
from backtrail.git.restore.staging import put_back_aside
from backtrail.git.store.integrity import contents_are_sound
from backtrail.git.store.objects import list_tree
from backtrail.git.user.branches import delete_branch, make_branch
from backtrail.git.user.discovery import Worktree, is_plain_directory, worktree_at
from backtrail.git.user.head import index_is_split
from backtrail.git.user.identity import (
    check_half_made,
    located,
    mark_as_sandbox,
    refuse_own_files_inside,
    registered_git_dir,
)
from backtrail.git.user.transfer import bring_tip, send_back
from backtrail.git.user.worktrees import connect, lost_its_git_dir, register, unplace, unregister
from backtrail.services.plans.populate import (
    Source,
    as_document,
    chosen_in,
    fill,
    from_document,
    head_of,
    lacking,
)
from backtrail.services.recovery.reconcile import reconcile_rows_and_refs
from backtrail.services.retention.prune import keep_within_limits
from backtrail.services.rollback.child_plans import place_on_parent
from backtrail.services.session.context import DEFAULT_WAIT, LockedSandbox
from backtrail.services.session.enter import writing
from backtrail.services.session.journal import Entry, open_operation
from backtrail.services.snapshot.create import create_checkpoint

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CommitId
    from backtrail.domain.operation import Operation
    from backtrail.git.checkpoint.state import Captured
    from backtrail.git.store.store import PrivateStore
    from backtrail.services.session.context import Workspace


def bring_along(ws: Workspace, store: PrivateStore, sandbox: Sandbox) -> tuple[str, ...]:
    """Copy what `[sandbox] copy` and `.worktreeinclude` choose into a sandbox of our own."""
    main = worktree_at(ws.main_root)
    if sandbox.kind is not SandboxKind.OWN or main is None:
        return ()
    chosen = files_to_copy(store, main, ws.user, ws.settings.sandbox.copy)
    return tuple(map(os.fsdecode, copy_files(main.root, sandbox.path, chosen)))


def record_spawn(workspace: Workspace, parent: Plan, child: str) -> None:
    """The checkpoint that the parent goes back to when the child shall never have been."""
    if Trigger.SUBPLAN_SPAWN not in workspace.settings.triggers.enabled:
        return
    request = CheckpointRequest(
        reason=f"before child plan {child}", checkpoint_type=CheckpointType.SUBPLAN_SPAWN
    )
    with writing(workspace, parent.plan_id, wait=DEFAULT_WAIT) as locked:
        create_checkpoint(locked, request)
        keep_within_limits(locked)
    workspace.failpoints.reach("plan.spawn_recorded")


_CHECKED_OUT, _CONTENTS, _ORIGIN = "checked_out", "contents", "origin"


@dataclass(frozen=True, slots=True)
class Filled:
    """A checkout that was just made: when it began, and what is worth saying about it."""

    began_ns: int | None = None
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanCreation:
    """The create protocol of plans."""

    workspace: Workspace

    def create(self, plan: Plan, source: Source | None = None) -> CreatedPlan:
        """Make a plan that was worked out, with the files of its base or of a source."""
        refuse_own_files_inside(plan.sandbox.path, self.workspace.own_paths)
        with self.workspace.holding(plan.sandbox, wait=DEFAULT_WAIT) as store:
            operation = self._announce(plan, source)
            self.workspace.failpoints.reach("plan.announced")
            try:
                return self._carry_on(plan, operation, store)
            except BacktrailError as error:
                self._give_up(plan, operation, error)
                raise

    def resume(self, plan: Plan, *, wait: float = DEFAULT_WAIT) -> CreatedPlan:
        """Finish a creation that was interrupted."""
        check_half_made(plan.sandbox, self.workspace.common_dir)
        with self.workspace.holding(plan.sandbox, wait=wait) as store:
            with self.workspace.database.read() as uow:
                unfinished = uow.operations.unfinished(plan.plan_id)
                plan = uow.plans.get(plan.plan_id)
            for operation in unfinished:
                if operation.kind is OperationKind.CREATE_PLAN:
                    made = self._carry_on(plan, operation, store)
                    said = f"finished the creation of plan {plan.name} that was interrupted"
                    return replace(made, messages=(*made.messages, said))
        # Another process finished it while this one waited for the lock.
        with self.workspace.database.read() as uow:
            checkpoint = uow.checkpoints.first(plan.plan_id)
        if checkpoint is None:
            raise RefusedError(f"plan {plan.name!r} has no checkpoint")
        return CreatedPlan(plan, checkpoint, created=False)

    def _give_up(self, plan: Plan, operation: Operation, error: BacktrailError) -> None:
        """Free the name of a plan that got no sandbox; one that has a sandbox can be resumed."""
        if _is_there(plan.sandbox, self.workspace.common_dir):
            return
        with self.workspace.database.write() as uow:
            uow.plans.set_state(plan.plan_id, plan.phase, PlanState.REMOVED)
            uow.operations.update(
                operation.operation_id,
                state=OperationState.FAILED,
                result={"failure": error.message},
                finished_at=self.workspace.now(),
            )

    def _announce(self, plan: Plan, source: Source | None) -> Operation:
        ws = self.workspace
        with ws.database.write() as uow:
            if uow.plans.by_name(ws.repository_id, plan.name) is not None:
                raise RefusedError(f"plan {plan.name!r} was just created by another process")
            holder = uow.plans.by_sandbox_path(ws.repository_id, str(plan.sandbox.path))
            if holder is not None:
                raise RefusedError(f"the sandbox was just taken by plan {holder.name!r}")
            uow.plans.add(plan, spawn=place_on_parent(uow, plan))
            if source is None:
                return open_operation(ws, uow, plan, Entry(OperationKind.CREATE_PLAN))
            origin = source.origin
            entry = Entry(
                OperationKind.CREATE_PLAN,
                reason=source.what,
                target=origin.checkpoint_id if origin else None,
            )
            operation = open_operation(ws, uow, plan, entry)
            result = {
                _CONTENTS: as_document(source.contents),
                _ORIGIN: asdict(origin) if origin else None,
            }
            uow.operations.update(operation.operation_id, result=result)
            return replace(operation, result=result)

    def _carry_on(self, plan: Plan, operation: Operation, store: PrivateStore) -> CreatedPlan:
        """From announced rows to a plan with its initial checkpoint, whatever is there already."""
        ws = self.workspace
        store.remove_stale_locks(plan.sandbox.sandbox_id)
        filled = Filled()
        if plan.sandbox.kind is SandboxKind.OWN:
            filled = self._fill_worktree(plan, operation, store)
        else:
            mark_as_sandbox(_worktree(plan.sandbox), plan.sandbox.sandbox_id)
        sandbox = located(plan.sandbox, ws.common_dir)
        copied = bring_along(ws, store, sandbox)
        ws.failpoints.reach("plan.copied")
        _bring_base(store, sandbox)
        seeded = self._seed(sandbox, store, filled.began_ns)
        ws.failpoints.reach("plan.seeded")
        locked = LockedSandbox(ws, plan, sandbox, store)
        checkpoint = self._initial_checkpoint(locked, operation, fresh_seed=seeded)
        ws.failpoints.reach("plan.initial_made")
        with ws.database.write() as uow:
            uow.plans.set_sandbox(
                plan.plan_id, git_dir=sandbox.git_dir, base_commit=sandbox.base_commit
            )
            uow.operations.update(
                operation.operation_id,
                state=OperationState.DONE,
                result_checkpoint_id=checkpoint.checkpoint_id,
                finished_at=ws.now(),
            )
        document = operation.result.get(_CONTENTS)
        contents = from_document(store, document) if document else None
        lacks = lacking(sandbox.path, contents) if contents else ()
        if contents and not operation.result.get(_ORIGIN):
            copied = (*chosen_in(store, contents), *copied)
        return CreatedPlan(
            ws.plan(plan.plan_id),
            checkpoint,
            created=True,
            copied=copied,
            messages=(*filled.messages, *lacks),
        )

    def _fill_worktree(self, plan: Plan, operation: Operation, store: PrivateStore) -> Filled:
        """Make the worktree and check its files out, unless that was done before a crash."""
        ws = self.workspace
        sandbox, base = plan.sandbox, plan.sandbox.base_commit
        if operation.result.get(_CHECKED_OUT) or base is None or sandbox.branch is None:
            return Filled()
        ws.progress("making the sandbox")
        began = time_ns()
        document = operation.result.get(_CONTENTS)
        contents = from_document(store, document) if document else None
        start = base
        if contents is not None:
            start = head_of(contents)
            send_back(store, ws.common_dir, [start], ())
        self._register(sandbox, sandbox.branch, start, store)
        sandbox = located(sandbox, ws.common_dir)
        self._save_strays(plan, sandbox, store)
        if contents is None:
            messages = self._check_out(sandbox, base, store)
        else:
            _bring_base(store, sandbox)
            locked = LockedSandbox(ws, plan, sandbox, store)
            messages = fill(locked, contents, operation.reason)
        result = {**operation.result, _CHECKED_OUT: True}
        with ws.database.write() as uow:
            uow.operations.update(operation.operation_id, result=result)
        ws.failpoints.reach("plan.checked_out")
        # Only what git has just checked out of the base can be trusted without a look.
        return Filled(None if contents else began, messages)

    def _register(
        self, sandbox: Sandbox, branch: str, start: CommitId, store: PrivateStore
    ) -> None:
        """Have the worktree in its place, unless a crash came after that."""
        common_dir, path = self.workspace.common_dir, sandbox.path
        git_dir = registered_git_dir(sandbox, common_dir)
        made = False
        try:
            if git_dir is not None:
                connect(path, git_dir, sandbox)
                return
            self._refuse_taken(sandbox)
            why = f"branch: Created from {start}"
            made = make_branch(store, branch, start, sandbox.sandbox_id, why)
            self.workspace.failpoints.reach("plan.branch_made")
            register(common_dir, sandbox, path, start, branch)
        except OSError as error:
            unplace(path, common_dir)
            if made:
                delete_branch(store, sandbox.git_dir, branch, start)
            raise FailedError(
                f"the sandbox at {str(path)!r} cannot be made: {error.strerror}",
                hint="see to it that there is room and both places can be written, then try again",
            ) from error
        self.workspace.failpoints.reach("plan.worktree_added")

    def _refuse_taken(self, sandbox: Sandbox) -> None:
        """Somebody may have taken the place since it was found to be free."""
        path = sandbox.path
        empty = is_plain_directory(path) and not any(path.iterdir())
        free = empty or not os.path.lexists(path)
        if not free and not lost_its_git_dir(path, self.workspace.common_dir):
            raise RefusedError(f"{str(path)!r} is already there", hint="move it away")

    def _save_strays(self, plan: Plan, sandbox: Sandbox, store: PrivateStore) -> None:
        """Keep whatever lies in a half-made sandbox before the checkout writes over it."""
        put_back_aside(store, sandbox)
        if any(entry.name != ".git" for entry in sandbox.path.iterdir()):
            _bring_base(store, sandbox)
            request = CheckpointRequest(
                reason="found in a sandbox whose creation was interrupted",
                checkpoint_type=CheckpointType.ON_ERROR,
            )
            create_checkpoint(LockedSandbox(self.workspace, plan, sandbox, store), request)

    def _check_out(self, sandbox: Sandbox, base: CommitId, store: PrivateStore) -> tuple[str, ...]:
        repository = self.workspace.user_repository(store)
        try:
            return repository.check_out(sandbox.path, sandbox.git_dir)
        except GitFailedError:
            unregister(self.workspace.common_dir, sandbox)
            delete_branch(store, sandbox.git_dir, sandbox.branch or "", base)
            raise

    def _seed(self, sandbox: Sandbox, store: PrivateStore, began_ns: int | None) -> bool:
        """Spare the first snapshot the hashing of every file, where that is safe."""
        if (
            began_ns is None
            or index_is_split(sandbox.git_dir)
            or checkout_converts(store, sandbox, self.workspace.user)
        ):
            return False
        return seed_index(store, sandbox, checkout_began_ns=began_ns)

    def _initial_checkpoint(
        self, locked: LockedSandbox, operation: Operation, *, fresh_seed: bool
    ) -> Checkpoint:
        """The initial checkpoint, or the one that was made before a crash."""
        reconcile_rows_and_refs(locked)
        with locked.workspace.database.read() as uow:
            rows = uow.checkpoints.list(
                locked.plan.plan_id, include_superseded=True, include_tombstones=False
            )
        for row in rows:
            if row.checkpoint_type is CheckpointType.INITIAL and row.restorable:
                return row
        request = CheckpointRequest(
            reason=operation.reason or "the sandbox as it was created",
            checkpoint_type=CheckpointType.INITIAL,
            forked_from=origin_of(operation),
        )
        captured = locked.camera.capture(fresh_seed=fresh_seed)
        if not fresh_seed and not _is_sound(locked, captured):
            # Objects of the user's that were damaged are out of the way now.
            locked.camera.forget_index()
            captured = locked.camera.capture()
        return create_checkpoint(locked, request, captured=captured).checkpoint


def origin_of(operation: Operation) -> Origin | None:
    """The checkpoint that a plan was forked from, as its creation has written it down."""
    origin = operation.result.get(_ORIGIN)
    return Origin(**origin) if origin else None


def _is_sound(locked: LockedSandbox, captured: Captured) -> bool:
    """Whether all contents can be read: of a sandbox that git did not just write, nobody knows."""
    entries = list_tree(locked.store, captured.tree)
    return contents_are_sound(locked.store, [entry.object_id for entry in entries])


def _bring_base(store: PrivateStore, sandbox: Sandbox) -> None:
    store.link_user_objects()
    if sandbox.base_commit:
        bring_tip(store, sandbox.base_commit)


def _is_there(sandbox: Sandbox, common_dir: Path) -> bool:
    if sandbox.kind is SandboxKind.OWN:
        return registered_git_dir(sandbox, common_dir) is not None
    return worktree_at(sandbox.path) is not None


def _worktree(sandbox: Sandbox) -> Worktree:
    worktree = worktree_at(sandbox.path)
    if worktree is None:
        raise SandboxInvalidError(f"{str(sandbox.path)!r} is not a git worktree")
    return worktree


def finish_creation(workspace: Workspace, plan: Plan, *, wait: float) -> None:
    """Finish the creation of a plan that was interrupted."""
    workspace.notices.extend(PlanCreation(workspace).resume(plan, wait=wait).messages)
