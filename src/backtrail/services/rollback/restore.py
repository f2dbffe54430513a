"""The part of a rollback that changes the sandbox: restore, prove, land.

Everything here can be run again by recovery on an operation found `restoring`, and comes to the
same end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING

from backtrail.domain.errors import (
    BacktrailError,
    GitFailedError,
    StorageError,
    VerificationFailedError,
)
from backtrail.domain.operation import GOING_BACK, OperationKind, OperationState
from backtrail.domain.wording import some_of
from backtrail.git.restore.concurrent_edits import foreign_git_state
from backtrail.git.restore.git_state import plan_git_state, prove_git_state, restore_git_state
from backtrail.git.restore.goal import goal_of
from backtrail.git.restore.plan import plan_files
from backtrail.git.restore.proof import prove_files
from backtrail.git.restore.write import restore_files
from backtrail.git.user.head import read_git_state
from backtrail.git.user.identity import located
from backtrail.services.retention.effective import limits_of
from backtrail.services.rollback.commit import Seen, land
from backtrail.services.rollback.report import left_names
from backtrail.services.session.journal import IGNORED_BEFORE, asked_of_git, fail_operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.operation import Operation
    from backtrail.git.checkpoint.state import Captured
    from backtrail.git.restore.git_state import GitStatePlan
    from backtrail.git.restore.goal import Goal
    from backtrail.git.restore.plan import FilePlan
    from backtrail.git.restore.proof import FileProof
    from backtrail.services.session.context import LockedSandbox, Workspace


_PATHS_IN_DETAILS = 100
# File systems may date by the second, and never finer than by the clock's tick.
CLOCK_STEP_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Restored:
    """A restore that was proven and has landed on the timeline."""

    checkpoint: Checkpoint
    files: FilePlan
    proof: FileProof
    git: GitStatePlan | None
    """None where some paths alone were restored."""


def begin_restoring(
    locked: LockedSandbox, operation: Operation, safety: Checkpoint, ignored: Sequence[str]
) -> Operation:
    """From here on files change; a rollback can be undone whatever comes of it.

    What is ignored now is written down: once the rules have changed, nothing else tells it from
    files that should not be there.
    """
    ws = locked.workspace
    with ws.database.write() as uow:
        uow.operations.update(
            operation.operation_id,
            state=OperationState.RESTORING,
            safety_checkpoint_id=safety.checkpoint_id,
            result={**operation.result, IGNORED_BEFORE: list(ignored)},
        )
        if operation.kind in GOING_BACK:
            stacks = uow.operations.stacks(operation.plan_id)
            depth = limits_of(ws, locked.plan).undo_depth
            stacks = stacks.restoring(operation.operation_id, depth=depth)
            uow.operations.save_stacks(operation.plan_id, stacks)
    return replace(
        operation,
        state=OperationState.RESTORING,
        safety_checkpoint_id=safety.checkpoint_id,
        result={**operation.result, IGNORED_BEFORE: list(ignored)},
    )


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a restore has to bring about, and what it will change for that."""

    wanted: Captured
    goal: Goal
    files: FilePlan
    since_ns: int
    """When the look began that found the present."""
    before: Captured
    """The safety checkpoint: what undo brings back."""


def prepare(
    locked: LockedSandbox,
    operation: Operation,
    *,
    wanted: Captured,
    safety: Captured,
    current: Captured,
    since_ns: int,
) -> Prepared:
    """Compare the disk as captured now, by a look that began at `since_ns`, with what is asked."""
    goal = goal_of(locked.store, wanted, safety, operation.paths)
    return Prepared(wanted, goal, plan_files(locked.store, current, goal), since_ns, safety)


def finish(
    locked: LockedSandbox, operation: Operation, target: Checkpoint, prepared: Prepared
) -> Restored:
    """Bring an operation that is `restoring` to its end."""
    ws, files, wanted = locked.workspace, prepared.files, prepared.wanted
    try:
        ws.progress("restoring files")
        restore_files(locked.store, locked.sandbox, files, ws.failpoints)
        ws.failpoints.reach("rollback.files_restored")
        git_plan = _restore_git(locked, operation, prepared)
        ws.failpoints.reach("rollback.git_restored")
        ws.progress("proving the result")
        proof = _prove_files(locked, operation, files, prepared.since_ns)
        git_proof = prove_git_state(locked.store, locked.sandbox, git_plan, wanted.state.git_state)
        refuse_wrong(operation.kind, [*proof.wrong, *git_proof.wrong])
        ws.failpoints.reach("rollback.proved")
        locked.camera.keep_inventory(proof.inventory)
        names = left_names(locked.sandbox.path, operation.result.get(IGNORED_BEFORE, []), files)
        seen = Seen(prepared.goal, proof, git_proof.found, names)
        checkpoint = land(locked, operation, target, wanted, seen)
    except StorageError:
        # The rows cannot be asked or told: the operation stays open, and recovery ends it.
        raise
    except BacktrailError as error:
        fail_operation(ws, operation, error.message)
        hints = (f"nothing is lost: {way_back(locked, operation, target)}", error.hint)
        error.hint = "; ".join(filter(None, hints))
        _name_safety(ws, operation, error)
        raise
    return Restored(checkpoint, files, proof, git_plan)


def _name_safety(ws: Workspace, operation: Operation, error: BacktrailError) -> None:
    """Let the error tell which checkpoint holds the files as they were."""
    with ws.database.read() as uow:
        safety = operation.safety_checkpoint_id
        row = uow.checkpoints.get(safety) if safety else None
    if row is not None:
        error.details["safety_checkpoint"] = row.checkpoint_id
        error.details["safety_checkpoint_seq"] = row.seq


def _restore_git(
    locked: LockedSandbox, operation: Operation, prepared: Prepared
) -> GitStatePlan | None:
    """HEAD, branches, index and what was under way; nothing when only some paths are restored."""
    if operation.paths:
        return None
    store, sandbox = locked.store, locked.sandbox
    located(sandbox, store.common_dir)
    before, wanted = prepared.before.state, prepared.wanted.state
    others = tuple(ref for ref, _ in before.git_state.branches)
    now = read_git_state(sandbox.git_dir, sandbox.branch, others)
    moved = foreign_git_state(store, now, before, wanted)
    if moved:
        raise GitFailedError(
            f"another program has changed {some_of(moved)} meanwhile; it stays as it is",
        )
    plan = plan_git_state(store, sandbox, now, wanted.git_state, asked_of_git(operation))
    locked.workspace.database.check()
    return restore_git_state(
        store,
        sandbox,
        plan,
        wanted,
        why=f"{operation.kind} {operation.operation_id}",
        failpoints=locked.workspace.failpoints,
    )


def _prove_files(
    locked: LockedSandbox, operation: Operation, files: FilePlan, since_ns: int
) -> FileProof:
    spared = operation.result.get(IGNORED_BEFORE, [])
    return prove_files(locked.store, locked.sandbox, files, spared, since_ns - CLOCK_STEP_NS)


def refuse_wrong(what: str, wrong: Sequence[str]) -> None:
    """Raise if anything is not as it should be."""
    if wrong:
        raise VerificationFailedError(
            f"after the {what} not everything is as it should be: {some_of(wrong)}",
            details={"paths": wrong[:_PATHS_IN_DETAILS], "count": len(wrong)},
        )


def way_back(locked: LockedSandbox, operation: Operation, target: Checkpoint) -> str:
    """What to type after a restore that did not come to its end."""
    name = locked.plan.name
    if operation.kind is OperationKind.RESTORE:
        return f"plan rollback {name} {target.seq} tries again"
    if operation.kind in (OperationKind.UNDO, OperationKind.REDO):
        # One that failed is not on the stacks: its own safety checkpoint is the way back.
        with locked.workspace.database.read() as uow:
            safety = operation.safety_checkpoint_id
            before = uow.checkpoints.get(safety) if safety else None
        if before is not None:
            only = "".join(f" --path {quote(path)}" for path in operation.paths)
            return (
                f"plan rollback {name} {before.seq}{only} brings back the state before the "
                f"{operation.kind}, and plan {operation.kind} {name} tries again"
            )
    return f"plan undo {name} brings back the state before the {operation.kind}"
