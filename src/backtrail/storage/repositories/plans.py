"""Plans with their sandboxes, and the counter that numbers everything in a plan."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from backtrail.domain.checkpoint import CheckpointState
from backtrail.domain.errors import NotFoundError
from backtrail.domain.ids import CommitId, PlanId
from backtrail.domain.plan import Phase, Plan, PlanState, PlanSummary
from backtrail.domain.timeline import FIRST_EPOCH, Epoch
from backtrail.storage.repositories.base import starts_with
from backtrail.storage.rows.mapping import EPOCHS, PLANS, SANDBOXES, Origin
from backtrail.storage.rows.tables import CheckpointRow, PlanRow, SandboxRow

PlanQuery = Select[PlanRow, SandboxRow]
Plans = list[Plan]
Summaries = list[PlanSummary]
"""`list` is a method below, which hides the type of that name."""


class PlanRepository:
    """Plans of one transaction."""

    def __init__(self, session: Session, origin: Origin) -> None:
        self._session = session
        self._origin = origin
        self._locked: dict[PlanId, tuple[PlanRow, SandboxRow]] = {}
        """Nobody else changes these before the transaction ends: they are read once."""

    def add(self, plan: Plan, *, spawn: tuple[int, int] | None = None) -> None:
        """A new plan, its sandbox and its first epoch; `spawn` is the parent's epoch, position."""
        epoch, position = spawn or (None, None)
        name = None if plan.state is PlanState.REMOVED else plan.name
        rows = (
            PLANS.row_of(plan, live_name=name, spawn_epoch=epoch, spawn_position=position),
            SANDBOXES.row_of(
                plan.sandbox, repository_id=plan.repository_id, created_at=plan.created_at
            ),
            EPOCHS.row_of(Epoch(plan.plan_id, FIRST_EPOCH, None, None, None)),
        )
        for row in rows:
            self._session.add(row)
            self._session.flush()

    def get(self, plan_id: PlanId) -> Plan:
        """The plan, if it is this repository's: others in the database are not for us to touch."""
        locked = self._locked.get(plan_id)
        return _plan_of(*locked) if locked else self._one(self._own(plan_id), plan_id)

    def lock(self, plan_id: PlanId) -> Plan:
        """As `get`, and no other transaction may lock or change the plan until this one ends."""
        return _plan_of(*self._lock(plan_id))

    def _lock(self, plan_id: PlanId) -> tuple[PlanRow, SandboxRow]:
        if plan_id not in self._locked:
            # The row may have been read before the lock was granted, and be stale.
            query = self._own(plan_id).with_for_update(of=PlanRow)
            fresh = query.execution_options(populate_existing=True)
            found = self._session.execute(fresh).first()
            if found is None:
                raise _unknown(plan_id)
            self._locked[plan_id] = found[0], found[1]
        return self._locked[plan_id]

    def by_name(self, repository_id: str, name: str) -> Plan | None:
        """The plan of that name that is not removed."""
        return self._first(
            _plans().where(PlanRow.repository_id == repository_id, PlanRow.live_name == name)
        )

    def removed_by_name(self, repository_id: str, name: str) -> Plans:
        """Removed plans that had the name, the one removed last first."""
        query = _plans().where(
            PlanRow.repository_id == repository_id,
            PlanRow.name == name,
            PlanRow.state == PlanState.REMOVED,
        )
        return self._all(query.order_by(SandboxRow.released_at.desc(), PlanRow.plan_id.desc()))

    def by_prefix(self, repository_id: str, prefix: str, limit: int) -> Plans:
        """Plans whose id begins so, removed ones included, oldest first."""
        query = _plans().where(
            PlanRow.repository_id == repository_id, starts_with(PlanRow.plan_id, prefix)
        )
        return self._all(query.order_by(PlanRow.plan_id).limit(limit))

    def by_sandbox_path(self, repository_id: str, path: str) -> Plan | None:
        """The plan, not removed, that works at a path; this host's if several hosts have one."""
        query = _plans().where(
            SandboxRow.repository_id == repository_id,
            SandboxRow.path == path,
            PlanRow.state != PlanState.REMOVED,
        )
        elsewhere = case((SandboxRow.host_id == self._origin.host_id, 0), else_=1)
        return self._first(query.order_by(elsewhere, PlanRow.created_at.desc()).limit(1))

    def children(self, plan_id: PlanId) -> list[tuple[Plan, int | None, int | None]]:
        """Child plans with the epoch and position of the parent where each was spawned."""
        query = _plans().where(PlanRow.parent_plan_id == plan_id)
        rows = self._session.execute(query.order_by(PlanRow.created_at, PlanRow.plan_id))
        return [
            (_plan_of(row, sandbox), row.spawn_epoch, row.spawn_position) for row, sandbox in rows
        ]

    def next_position(self, plan_id: PlanId) -> int:
        """Count the plan's counter up; the row stays locked, so that no number is given twice."""
        row, _ = self._lock(plan_id)
        row.position += 1
        self._session.flush()
        return row.position

    def set_state(self, plan_id: PlanId, phase: Phase, state: PlanState) -> None:
        """A removed plan gives its name and its sandbox free; one that comes back takes both."""
        removed = state is PlanState.REMOVED
        row = self._row(plan_id)
        row.phase = phase
        row.state = state
        row.live_name = None if removed else row.name
        sandbox = self._sandbox_row(plan_id)
        if not removed:
            sandbox.released_at = None
        elif sandbox.released_at is None:
            sandbox.released_at = datetime.now(UTC)
        self._session.flush()

    def set_applied(self, plan_id: PlanId, commit: CommitId) -> None:
        self._row(plan_id).applied_commit = commit
        self._session.flush()

    def set_epoch(self, plan_id: PlanId, epoch: int) -> None:
        self._row(plan_id).current_epoch = epoch
        self._session.flush()

    def set_policy(self, plan_id: PlanId, policy: Mapping[str, Any]) -> None:
        """The whole policy; whoever changes a part of it locks the plan and hands on the rest."""
        self._row(plan_id).policy_json = dict(policy)
        self._session.flush()

    def set_place(self, plan_id: PlanId, path: Path, git_dir: Path) -> None:
        """Where a sandbox is now."""
        row = self._sandbox_row(plan_id)
        row.path, row.git_dir = str(path), str(git_dir)
        self._session.flush()

    def set_sandbox(self, plan_id: PlanId, *, git_dir: Path, base_commit: CommitId | None) -> None:
        """What is known of a sandbox only after its worktree was made."""
        row = self._sandbox_row(plan_id)
        row.git_dir = str(git_dir)
        row.base_commit = base_commit
        self._session.flush()

    def list(self, repository_id: str, *, include_removed: bool = False) -> Plans:
        """Plans of a repository, oldest first."""
        query = _plans().where(PlanRow.repository_id == repository_id)
        if not include_removed:
            query = query.where(PlanRow.state != PlanState.REMOVED)
        return self._all(query.order_by(PlanRow.created_at, PlanRow.plan_id))

    def summaries(self, repository_id: str, *, include_removed: bool) -> Summaries:
        """Plans with what is known of each without looking at its sandbox: one query for all."""
        complete = CheckpointRow.state == CheckpointState.COMPLETE
        counted = (
            select(
                CheckpointRow.plan_id,
                func.count().label("number"),
                func.coalesce(func.sum(CheckpointRow.size_bytes), 0).label("size"),
            )
            .where(complete)
            .group_by(CheckpointRow.plan_id)
            .subquery()
        )
        query = (
            select(PlanRow, SandboxRow, counted.c.number, counted.c.size)
            .join(SandboxRow, SandboxRow.plan_id == PlanRow.plan_id)
            .outerjoin(counted, counted.c.plan_id == PlanRow.plan_id)
            .where(PlanRow.repository_id == repository_id)
        )
        if not include_removed:
            query = query.where(PlanRow.state != PlanState.REMOVED)
        return [
            PlanSummary(_plan_of(row, sandbox), row.updated_at, number or 0, int(size or 0))
            for row, sandbox, number, size in self._session.execute(query)
        ]

    def _own(self, plan_id: PlanId) -> PlanQuery:
        return _plans().where(
            PlanRow.plan_id == plan_id, PlanRow.repository_id == self._origin.store_id
        )

    def _row(self, plan_id: PlanId) -> PlanRow:
        locked = self._locked.get(plan_id)
        row = locked[0] if locked else self._session.get(PlanRow, plan_id)
        if row is None:
            raise _unknown(plan_id)
        return row

    def _sandbox_row(self, plan_id: PlanId) -> SandboxRow:
        if plan_id in self._locked:
            return self._locked[plan_id][1]
        row = self._session.scalar(select(SandboxRow).where(SandboxRow.plan_id == plan_id))
        if row is None:
            raise _unknown(plan_id)
        return row

    def _all(self, query: PlanQuery) -> Plans:
        return [_plan_of(row, sandbox) for row, sandbox in self._session.execute(query)]

    def _first(self, query: PlanQuery) -> Plan | None:
        return next(iter(self._all(query)), None)

    def _one(self, query: PlanQuery, plan_id: PlanId) -> Plan:
        plan = self._first(query)
        if plan is None:
            raise _unknown(plan_id)
        return plan


def _plan_of(row: PlanRow, sandbox: SandboxRow) -> Plan:
    return PLANS.value_of(row, sandbox=SANDBOXES.value_of(sandbox))


def _plans() -> PlanQuery:
    return select(PlanRow, SandboxRow).join(SandboxRow, SandboxRow.plan_id == PlanRow.plan_id)


def _unknown(plan_id: PlanId) -> NotFoundError:
    return NotFoundError(f"there is no plan {plan_id}")
