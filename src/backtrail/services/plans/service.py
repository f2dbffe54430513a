"""PlanService: making plans with their sandboxes, finding them, saying where they stand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backtrail.domain.errors import (
    AmbiguousError,
    BacktrailError,
    NotFoundError,
    RefusedError,
    UsageError,
)
from backtrail.domain.operation import UNFINISHED, OperationKind
from backtrail.domain.plan import PlanOrder, check_plan_name
from backtrail.domain.reference import ULID_LENGTH
from backtrail.domain.retention import RETENTION
from backtrail.domain.rollback import CreatedPlan, FileChange, PlanStatus
from backtrail.domain.settings import ROLLBACK
from backtrail.git.checkpoint.commit import read_checkpoint
from backtrail.git.compare.states import changes_between
from backtrail.services.decisions.service import standing
from backtrail.services.plans.create import PlanCreation, origin_of, record_spawn
from backtrail.services.plans.list import plan_overview
from backtrail.services.plans.outline import PlanOutline
from backtrail.services.plans.populate import Source, capture_checkout
from backtrail.services.retention.effective import rollback_policy_of
from backtrail.services.rollback.child_plans import refuse_as_parent
from backtrail.services.rollback.impact import tool_calls_after
from backtrail.services.session.guards import said_if_over
from backtrail.services.session.missing_sandbox import refuse_removed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import PlanId
    from backtrail.domain.plan import Plan, PlanState, PlanSummary
    from backtrail.services.session.context import Workspace
    from backtrail.storage.database import UnitOfWork


_SHOWN = 5


class PlanService:
    """The plans of one repository."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def create(
        self,
        name: str,
        *,
        base: str | None = None,
        sandbox: Path | None = None,
        use_existing: bool = False,
        limits: Mapping[str, int | None] | None = None,
        from_dirty: bool = False,
        parent: Plan | None = None,
    ) -> CreatedPlan:
        """A plan with a worktree of its own, or on a worktree that the user already has.

        `limits` are the new plan's own; one that is found in place keeps those it has.
        """
        check_plan_name(name)
        self._workspace.settings.retention.with_limits(limits or {})
        _check_origin(base, sandbox, from_dirty=from_dirty)
        creation = PlanCreation(self._workspace)
        existing = self._by_name(name)
        if parent is not None:
            refuse_as_parent(parent, existing)
        if existing is None:
            policy: dict[str, Any] = {ROLLBACK: self._workspace.settings.rollback.rules()}
            if limits:
                policy[RETENTION] = dict(limits)
            outline = PlanOutline(self._workspace)
            plan = outline.attached(name, sandbox) if sandbox else outline.own(name, base)
            plan = replace(plan, policy=policy, parent_plan_id=parent.plan_id if parent else None)
            source = self._dirty_checkout() if from_dirty else None
            if parent is not None:
                record_spawn(self._workspace, parent, name)
            return creation.create(plan, source)
        if self._half_made(existing):
            PlanOutline(self._workspace).refuse_another(existing, base=base, attach=sandbox)
            return creation.resume(existing)
        if use_existing:
            said = said_if_over(existing)
            return CreatedPlan(existing, self._newest(existing), created=False, messages=said)
        raise RefusedError(
            f"plan {name!r} already exists",
            hint="choose another name, or use it as it is with --if-exists use",
        )

    def _dirty_checkout(self) -> Source:
        contents = capture_checkout(self._workspace)
        return Source(contents, "the checkout with its uncommitted changes")

    def list_plans(self, *, include_removed: bool = False) -> list[Plan]:
        """All plans of this repository, oldest first."""
        ws = self._workspace
        with ws.database.read() as uow:
            return uow.plans.list(ws.repository_id, include_removed=include_removed)

    def overview(
        self,
        *,
        states: Collection[PlanState] = (),
        include_removed: bool = False,
        order: PlanOrder = PlanOrder.ACTIVITY,
        count_changes: bool = False,
    ) -> list[PlanSummary]:
        """The plans with what a person with many of them wants to know of each."""
        return plan_overview(
            self._workspace,
            states=states,
            include_removed=include_removed,
            order=order,
            count_changes=count_changes,
        )

    def resolve(self, text: str, *, removed: bool = False) -> Plan:
        """The plan that a name, an id or the unique beginning of an id names.

        With `removed` a name may also be that of a plan that was removed, the last one of them.
        """
        ws = self._workspace
        with ws.database.read() as uow:
            found = uow.plans.by_name(ws.repository_id, text) or self._by_prefix(uow, text)
            gone = [] if found else uow.plans.removed_by_name(ws.repository_id, text)
        if found is not None:
            return found
        if gone and removed:
            self._tell_of_others(gone)
            return gone[0]
        if gone:
            raise NotFoundError(
                f"plan {text!r} has been removed",
                hint=f"plan restore {text} brings it back; plan list --all shows removed plans",
            )
        raise NotFoundError(
            f"there is no plan {text!r} in this repository",
            hint="plan list shows the plans; plan create NAME makes one",
        )

    def _tell_of_others(self, gone: list[Plan]) -> None:
        chosen, *others = gone
        if others:
            ids = ", ".join(plan.plan_id for plan in others)
            self._workspace.notices.append(
                f"{len(gone)} removed plans had the name {chosen.name}; this is the one that was "
                f"removed last, and the others are {ids}"
            )

    def containing(self, directory: Path) -> Plan | None:
        """The plan whose sandbox holds a directory."""
        ws = self._workspace
        place = directory.resolve()
        with ws.database.read() as uow:
            for candidate in (place, *place.parents):
                found = uow.plans.by_sandbox_path(ws.repository_id, str(candidate))
                if found is not None:
                    return found
        return None

    def status(self, plan: PlanId) -> PlanStatus:
        """Where a plan stands; a sandbox that cannot be looked at is said, not raised."""
        ws = self._workspace
        with ws.database.read() as uow:
            row = uow.plans.get(plan)
            parent = uow.plans.get(row.parent_plan_id).name if row.parent_plan_id else None
            latest = uow.checkpoints.latest(plan)
            begun = uow.operations.of_kinds(plan, (OperationKind.CREATE_PLAN,))
            counts = uow.checkpoints.counts(plan)
            stacks = uow.operations.stacks(plan)
            run = uow.runs.live(plan)
            decisions = standing(uow, row)
            calls = tool_calls_after(uow, row, latest) if latest else 0
            interrupted = [o for o in uow.operations.list(plan, 1) if o.state in UNFINISHED]
        changes: tuple[FileChange, ...] = ()
        problem = hint = None
        try:
            changes = self._changes_since(row, latest)
        except BacktrailError as error:
            problem, hint = error.message, error.hint
        for operation in interrupted:
            ws.notices.append(
                f"{operation.kind} {operation.number} is under way or was interrupted; "
                "the next command that writes looks after it"
            )
        policy = rollback_policy_of(ws, row).policy
        may_go_back = policy.allowed and not row.state.end
        return PlanStatus(
            plan=row,
            latest=latest,
            changes=changes,
            problem=problem,
            hint=hint,
            counts=counts,
            undoable=len(stacks.undo),
            redoable=len(stacks.redo),
            parent=parent,
            forked_from=origin_of(begun[0]) if begun else None,
            run=run,
            rollback_policy=policy,
            current_decision=next((d for d in decisions if d.current), None),
            revertible=tuple(d for d in decisions if may_go_back and d.revertible),
            tool_calls_since_latest=calls,
        )

    def _changes_since(self, plan: Plan, latest: Checkpoint | None) -> tuple[FileChange, ...]:
        ws = self._workspace
        refuse_removed(plan)
        sandbox = ws.located(plan)
        if latest is None or latest.sandbox_ref is None:
            return ()
        ws.progress("looking at the sandbox")
        now = ws.camera(sandbox).peek()
        return changes_between(
            ws.store, read_checkpoint(ws.store, latest.sandbox_ref).captured, now
        )

    def _by_name(self, name: str) -> Plan | None:
        ws = self._workspace
        with ws.database.read() as uow:
            return uow.plans.by_name(ws.repository_id, name)

    def _by_prefix(self, uow: UnitOfWork, text: str) -> Plan | None:
        prefix = text.upper()
        if not prefix or len(prefix) > ULID_LENGTH or not prefix.isalnum():
            return None
        found = uow.plans.by_prefix(self._workspace.repository_id, prefix, _SHOWN)
        if len(found) > 1:
            raise AmbiguousError(
                f"{text!r} is the beginning of more than one plan id",
                hint="give more of the id, or the name",
                details={"candidates": [f"{p.name} ({p.plan_id})" for p in found]},
            )
        return found[0] if found else None

    def _half_made(self, plan: Plan) -> bool:
        with self._workspace.database.read() as uow:
            unfinished = uow.operations.unfinished(plan.plan_id)
        return any(o.kind is OperationKind.CREATE_PLAN for o in unfinished)

    def _newest(self, plan: Plan) -> Checkpoint:
        with self._workspace.database.read() as uow:
            newest = uow.checkpoints.latest(plan.plan_id)
        if newest is None:
            raise NotFoundError(f"plan {plan.name!r} has no checkpoint")
        return newest


def _check_origin(base: str | None, sandbox: Path | None, *, from_dirty: bool) -> None:
    """Refuse to begin with two things at once."""
    if base is not None and sandbox is not None:
        raise UsageError(
            "--base and --sandbox exclude each other",
            hint="an attached sandbox begins with what is checked out there",
        )
    if from_dirty and (base is not None or sandbox is not None):
        raise UsageError(
            "--from-dirty excludes --base and --sandbox",
            hint="the new sandbox begins with your checkout as it is, its HEAD included",
        )
