"""What every service works with: one repository's store and rows, and who is asking."""

from __future__ import annotations

import gc
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from ulid import ULID

from backtrail.domain.errors import GitFailedError, SandboxGoneError
from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from backtrail.domain.plan import Plan
from backtrail.domain.settings import Settings
from backtrail.git.capture.camera import Camera
from backtrail.git.ignore.included import copy_rules
from backtrail.git.osfiles.locks import exclusive_lock
from backtrail.git.user.branches import release_branch_lock
from backtrail.git.user.identity import located, refuse_own_files_inside
from backtrail.git.user.index import remove_own_locks
from backtrail.services.session.missing_sandbox import refuse_removed, what_to_type

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from pathlib import Path

    from backtrail.domain.checkpoint import Checkpoint, CheckpointState
    from backtrail.domain.ids import CheckpointId, PlanId, RunId
    from backtrail.domain.operation import Operation, OperationKind
    from backtrail.domain.plan import Sandbox
    from backtrail.domain.run import Run
    from backtrail.git.ignore.rules import UserSettings
    from backtrail.git.store.store import PrivateStore, StoreLayout
    from backtrail.git.user.ownership import Ownership
    from backtrail.git.user.repository import UserRepository
    from backtrail.services.session.enter import Repairs
    from backtrail.storage.database import Database, UnitOfWork


@contextmanager
def collection_put_off() -> Generator[None]:
    """Look for none as long as this lasts.

    All those values are reachable until the end. To look through them again and again while they
    become more finds nothing, and takes a good part of the time of a rollback.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def new_id(after: str | None = None) -> str:
    """A fresh ULID, greater than `after` even if the clock was set back."""
    fresh = str(ULID())
    if after is None or fresh > after:
        return fresh
    return str(ULID.from_int(int(ULID.from_str(after)) + 1))


DEFAULT_WAIT = 30.0


def _say_nothing(text: str) -> None:
    del text


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asked for something, from where, in which words."""

    name: str
    host: str
    command_line: str


class Companion(Protocol):
    """What is recorded along with the result of a rollback of one kind."""

    def row(self, result: Checkpoint, operation: Operation) -> Checkpoint:
        """The result's row, with what has to be in it from the start."""
        ...

    def record(
        self, ws: Workspace, uow: UnitOfWork, operation: Operation, result: CheckpointId
    ) -> None:
        """In the transaction that moves the timeline."""
        ...


@dataclass(frozen=True, slots=True)
class Workspace:
    """One repository as the services see it."""

    common_dir: Path
    main_root: Path
    start_git_dir: Path
    """The git directory of the worktree that the caller is in."""
    layout: StoreLayout
    store: PrivateStore
    database: Database
    store_id: str
    host_id: str
    ownership: Ownership
    user: UserSettings
    actor: Actor
    repairs: Repairs
    companions: Mapping[OperationKind, Companion]
    """What is recorded with the result of which kind of rollback; `bootstrap` says it."""
    users_environment: Mapping[str, str] = field(default_factory=dict[str, str])
    """For commits that are the user's own: their hooks, filters and keys need it."""
    own_paths: tuple[Path, ...] = ()
    """Where our own files are: no sandbox may hold them."""
    failpoints: Failpoints = NO_FAILPOINTS
    progress: Callable[[str], None] = _say_nothing
    notices: list[str] = field(default_factory=list[str])
    settings: Settings = field(default_factory=Settings)
    """What `plan.toml` of the main checkout says."""
    run_id: RunId | None = None
    """The run that this workspace belongs to: what it does is done by that run's holder."""

    @property
    def repository_id(self) -> str:
        """Plans belong to a clone, not to a project: two clones may share one database."""
        return self.store_id

    def now(self) -> datetime:
        return datetime.now(UTC)

    def plan(self, plan_id: PlanId) -> Plan:
        with self.database.read() as uow:
            return uow.plans.get(plan_id)

    @property
    def sandbox_root(self) -> Path:
        """Where new sandboxes are made."""
        beside = self.main_root.parent / f"{self.main_root.name}.plans"
        return self.settings.sandbox.root or beside

    def user_repository(self, store: PrivateStore | None = None) -> UserRepository:
        """The user's repository through GitPython, which only making a sandbox needs."""
        try:
            from backtrail.git.user.repository import UserRepository
        except ImportError as error:  # GitPython looks for its git when it is imported
            raise GitFailedError(
                "the git that $GIT_PYTHON_GIT_EXECUTABLE names cannot be run",
                hint="unset that variable, or let it name a git that works",
            ) from error
        return UserRepository(self.common_dir, store.lock_descriptors if store else ())

    def camera(self, sandbox: Sandbox, store: PrivateStore | None = None) -> Camera:
        rules = self.settings.capture
        # What a new sandbox gets is captured in it, too, if it is small.
        listed = copy_rules(self.main_root, self.settings.sandbox.copy)
        return Camera(
            store or self.store,
            sandbox,
            self.user,
            rules,
            listed if rules.with_small_files else (),
        )

    def known(self, plan: PlanId | Plan) -> Plan:
        """A plan, or one that was read before: which sandbox it has never changes."""
        return plan if isinstance(plan, Plan) else self.plan(plan)

    @contextmanager
    def locked(
        self, plan: PlanId | Plan, *, wait: float = DEFAULT_WAIT
    ) -> Generator[EnteredSandbox]:
        """The plan's sandbox, checked to be ours, with its lock held across processes."""
        plan = self.known(plan)
        with self.holding(plan.sandbox, wait=wait) as store:
            # Another process may have moved the plan on while this one waited.
            yield self.entered(read_rows(self, plan.plan_id), store)

    def entered(self, rows: PlanRows, store: PrivateStore) -> EnteredSandbox:
        """The sandbox of a plan whose lock is held, checked to be there and to be ours."""
        plan = rows.plan
        refuse_removed(plan)
        sandbox = self.located(plan)
        refuse_own_files_inside(sandbox.path, self.own_paths)
        store.remove_stale_locks(sandbox.sandbox_id)
        remove_own_locks(sandbox.git_dir)
        if sandbox.branch is not None:
            release_branch_lock(self.common_dir, sandbox.branch, sandbox.sandbox_id)
        return EnteredSandbox(self, plan, sandbox, store, rows)

    def located(self, plan: Plan) -> Sandbox:
        """The plan's sandbox as found now; if it is gone, what to type."""
        try:
            sandbox = located(plan.sandbox, self.common_dir)
        except SandboxGoneError as error:
            error.hint = what_to_type(plan, self.common_dir) or error.hint
            raise
        self.refuse_foreign(sandbox.path, sandbox.git_dir)
        return sandbox

    def refuse_foreign(self, root: Path, git_dir: Path) -> None:
        """Refuse a checkout of this repository in which git would refuse to work."""
        self.ownership.refuse_foreign(root, git_dir, self.common_dir)

    @contextmanager
    def holding(self, sandbox: Sandbox, *, wait: float) -> Generator[PrivateStore]:
        """The store, with the sandbox's lock held by us and by every git child."""
        path = self.layout.sandbox_lock(sandbox.sandbox_id)
        what = f"the sandbox at {str(sandbox.path)!r}"
        deadline = time.monotonic() + wait
        with exclusive_lock(path, wait=wait, what=what) as descriptor:
            yield self.store.locked(descriptor, deadline)


@dataclass(frozen=True, slots=True)
class LockedSandbox:
    """A sandbox that no other process of ours touches while this exists."""

    workspace: Workspace
    plan: Plan
    sandbox: Sandbox
    store: PrivateStore

    @property
    def camera(self) -> Camera:
        return self.workspace.camera(self.sandbox, self.store)


@dataclass(frozen=True, slots=True)
class EnteredSandbox(LockedSandbox):
    """A sandbox that is locked, and what the rows said then of its plan."""

    rows: PlanRows

    def read_again(self) -> EnteredSandbox:
        """The same, as the rows are now."""
        rows = read_rows(self.workspace, self.plan.plan_id)
        return replace(self, plan=rows.plan, rows=rows)


@dataclass(frozen=True, slots=True)
class PlanRows:
    """What a command has to know of a plan before it does anything, read in one transaction."""

    plan: Plan
    unfinished: tuple[Operation, ...]
    run: Run | None
    """The live run, if there was one. One that is admitted later waits for the lock to begin."""
    states: Mapping[CheckpointId, CheckpointState]

    @property
    def waiting(self) -> list[Operation]:
        """What made or unmade the sandbox when it was interrupted."""
        return [operation for operation in self.unfinished if operation.makes_or_unmakes_sandbox]


def read_rows(workspace: Workspace, plan_id: PlanId) -> PlanRows:
    with workspace.database.read() as uow:
        return PlanRows(
            plan=uow.plans.get(plan_id),
            unfinished=tuple(uow.operations.unfinished(plan_id)),
            run=uow.runs.live(plan_id),
            states=uow.checkpoints.ids_with_state(plan_id),
        )
