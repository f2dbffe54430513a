"""The end of an apply: the files of the branch's checkout, the branch, the rows, in this order.

Everything here can be run again by recovery on an apply found `restoring`, and comes to the same
end: while the branch is locked at its old place, its checkout is brought to the new one.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.errors import BacktrailError, FailedError, GitFailedError
from backtrail.domain.ids import CommitId
from backtrail.domain.operation import OperationState
from backtrail.domain.plan import Phase, PlanState
from backtrail.domain.settings import ApplyStrategy
from backtrail.git.applying.checkout import catch_up, follow
from backtrail.git.applying.commit import temporary
from backtrail.git.applying.merging import Merger
from backtrail.git.applying.tree import stage_sandbox
from backtrail.git.process.users_git import UsersGit
from backtrail.git.store.objects import empty_tree
from backtrail.git.store.store import scratch_directory
from backtrail.git.user.branches import moving
from backtrail.git.user.head import UserIndex, read_git_state, resolve_refs
from backtrail.git.user.identity import opened_git_dir
from backtrail.git.user.index import put_index, remove_own_locks
from backtrail.services.apply.target import Target, find_target
from backtrail.services.session.journal import fail_operation

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.operation import Operation
    from backtrail.git.user.checkouts import Checkout
    from backtrail.services.session.context import LockedSandbox


@dataclass(frozen=True, slots=True)
class Landing:
    """A finished commit, and the branch that is to get it."""

    locked: LockedSandbox
    users: UsersGit
    target: Target
    new: CommitId

    def land(self, operation: Operation, strategy: ApplyStrategy) -> None:
        """Bring the commit onto the branch; from here on the operation says how to go on.

        The rows come last, when nothing else is left to do.
        """
        ws, target = self.locked.workspace, self.target
        self._refuse_incomplete()
        result = {
            "onto": target.branch,
            "strategy": str(strategy),
            "previous_head": target.old,
            "commit": self.new,
        }
        state = OperationState.RESTORING
        with ws.database.write() as uow:
            uow.operations.update(operation.operation_id, state=state, result=result)
        operation = replace(operation, state=state, result=result)
        ws.failpoints.reach("apply.landing")
        try:
            self.move(again=False)
        except BacktrailError as error:
            if resolve_refs(ws.common_dir, [target.ref]).get(target.ref) != self.new:
                fail_operation(ws, operation, error.message)
                raise

    def _refuse_incomplete(self) -> None:
        """Moving a branch checks only the commit itself; its files must be there, too."""
        known = ("--not", self.target.old) if self.target.old else ()
        walk = self.users.plumbing().run("rev-list", "--objects", "--quiet", self.new, *known)
        if walk.code:
            raise GitFailedError(
                "the commit is not whole: objects of it are missing from the repository",
                hint="git fsck tells what is missing; nothing was changed",
                details={"stderr": walk.complaint()},
            )

    def move(self, *, again: bool) -> None:
        """Files first, while the branch is locked at its old place."""
        ws, target, checkout = self.locked.workspace, self.target, self.target.checkout
        git_dir = checkout.git_dir if checkout else ws.common_dir
        why = f"plan apply: {self.locked.plan.name}"
        with moving(self.locked.store, git_dir, target.ref, self.new, target.old, why=why):
            ws.failpoints.reach("apply.branch_locked")
            if target.in_place:
                self._index_follows()
            elif checkout is not None:
                self._files_follow(checkout, again=again)
            ws.failpoints.reach("apply.files_follow")
        ws.failpoints.reach("apply.branch_moved")

    def _files_follow(self, checkout: Checkout, *, again: bool) -> None:
        old = self.target.old or empty_tree(self.locked.store.id_length())
        start = self._caught_up(checkout, old) if again else old
        try:
            follow(self.users, checkout, start, self.new)
        except BacktrailError:
            # Git looks before it writes, but a disk may be full: what was written goes back.
            with suppress(BacktrailError):
                follow(self.users, checkout, self._caught_up(checkout, old), old)
            raise

    def _caught_up(self, checkout: Checkout, old: str) -> str:
        visitor = self.locked.sandbox.sandbox_id
        return catch_up(self.locked.store, self.users, checkout, old, self.new, visitor)

    def _index_follows(self) -> None:
        """The sandbox has the files already; its index is to know them as committed."""
        locked, users, sandbox = self.locked, self.users, self.locked.sandbox
        head = read_git_state(sandbox.git_dir, sandbox.branch).head_commit
        with scratch_directory(locked.store) as directory:
            index = directory / "index"
            stage_sandbox(users, locked.workspace.user, sandbox, head, index)
            sparse_off = ("-c", "core.sparseCheckout=false")
            users.on(sandbox.path, index).call(*sparse_off, "read-tree", "-m", self.new)
            staged = UserIndex(index.read_bytes(), index.stat().st_mtime_ns)
            with opened_git_dir(sandbox, locked.store.common_dir) as git_dir:
                put_index(git_dir, sandbox.git_dir, staged)


def record(locked: LockedSandbox, operation: Operation, commit: CommitId) -> None:
    """The plan is applied from here on."""
    ws = locked.workspace
    with ws.database.write() as uow:
        uow.plans.set_applied(operation.plan_id, commit)
        uow.plans.set_state(operation.plan_id, Phase.APPLY, PlanState.APPLIED)
        uow.operations.update(
            operation.operation_id, state=OperationState.DONE, finished_at=ws.now()
        )
    ws.failpoints.reach("apply.recorded")


def finish_apply(locked: LockedSandbox, operation: Operation) -> None:
    """Bring an apply that was interrupted while it landed to its end, if nobody worked since."""
    ws, users, result = locked.workspace, users_git(locked), operation.result
    new, old, branch = CommitId(result["commit"]), result["previous_head"], result["onto"]
    target = find_target(locked, branch, ApplyStrategy(result["strategy"]))
    now = target.old
    if now is None or not Merger(users.plumbing()).contains(now, new):
        if now != old:
            raise FailedError(f"branch {branch!r} was moved since; {new} was not brought onto it")
        if target.checkout:
            remove_own_locks(target.checkout.git_dir, locked.sandbox.sandbox_id)
        Landing(locked, users, target, new).move(again=True)
    record(locked, operation, new)
    ws.notices.append(
        f"finished the apply of plan {locked.plan.name} onto {branch} that was interrupted"
    )


def users_git(locked: LockedSandbox) -> UsersGit:
    ws = locked.workspace
    return UsersGit(ws.common_dir, ws.users_environment, locked.store.lock_descriptors)


def commit_place(locked: LockedSandbox) -> Path:
    """Where a commit is made while hooks look at it: beside the sandboxes, under a fixed name."""
    return locked.workspace.sandbox_root / f".apply-{locked.sandbox.sandbox_id}"


def tidy_up(locked: LockedSandbox) -> None:
    """Remove what an apply that was killed has left besides its rows."""
    with temporary(commit_place(locked)):
        return
