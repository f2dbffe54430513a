"""Values for every table: one that says all that it can, and one that says as little."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from backtrail.domain.checkpoint import Checkpoint, CheckpointState, CheckpointType
from backtrail.domain.correction import Correction, CorrectionMode
from backtrail.domain.decision import Decision
from backtrail.domain.operation import Operation, OperationKind, OperationState, Stack
from backtrail.domain.plan import Phase, Plan, PlanState, Sandbox, SandboxKind
from backtrail.domain.run import AbortAction, Lease, OnFailure, Run, RunOptions, RunStatus
from backtrail.domain.step import (
    Mark,
    MarkKind,
    Outcome,
    OutputState,
    Result,
    Step,
    StepName,
    StepOptions,
)
from backtrail.domain.timeline import Epoch, Lineage
from backtrail.storage.connection.engine import create_database_engine
from backtrail.storage.connection.schema import ensure_schema
from backtrail.storage.database import Database
from backtrail.storage.rows.tables import Base

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from sqlalchemy import Engine

    from backtrail.storage.database import UnitOfWork
    from support.world.world import World

STORE, HOST = "the store", "the host"
NOT_OF_VALUES = {("sandboxes", "released_at")}
"""Set when a plan is removed; then its row has no live name."""
_numbers = count(1)


@dataclass(frozen=True)
class Stored:
    """A value, how it gets into its table, and how it is found again."""

    table: str
    key: Mapping[str, Any]
    value: Any
    write: Callable[[UnitOfWork], None]
    read: Callable[[UnitOfWork], object]


def _id(letter: str, which: int) -> Any:
    return f"{which}{letter * 25}"


def _time() -> datetime:
    """Another one at each call."""
    return datetime(2026, 1, 2, 3, 4, 5, 678901, UTC) + timedelta(hours=next(_numbers))


def bare() -> list[Stored]:
    """Values with every optional field empty, in the order in which they can be stored."""
    plan_id, operation_id, run_id = _id("P", 1), _id("O", 1), _id("R", 1)
    decision_id, checkpoint_id, step_id = _id("D", 1), _id("C", 1), _id("S", 1)
    sandbox = Sandbox(
        sandbox_id=_id("B", 1),
        plan_id=plan_id,
        kind=SandboxKind.ATTACHED,
        path=Path("/bare"),
        git_dir=Path("/bare/.git"),
        branch=None,
        base_commit=None,
        store_id=STORE,
        host_id=HOST,
    )
    plan = Plan(
        plan_id=plan_id,
        repository_id=STORE,
        name="bare",
        phase=Phase.STRATEGIZE,
        state=PlanState.REMOVED,
        current_epoch=1,
        position=2,
        parent_plan_id=None,
        base_ref=None,
        applied_commit=None,
        created_at=_time(),
        sandbox=sandbox,
    )
    operation = Operation(
        operation_id=operation_id,
        plan_id=plan_id,
        number=1,
        kind=OperationKind.CREATE_PLAN,
        state=OperationState.OPEN,
        actor="",
        host="",
        command_line="",
        reason="",
        target_checkpoint_id=None,
        safety_checkpoint_id=None,
        result_checkpoint_id=None,
        entry_operation_id=None,
        stack=None,
        phase_before=Phase.STRATEGIZE,
        state_before=PlanState.QUEUED,
        phase_after=Phase.STRATEGIZE,
        state_after=PlanState.QUEUED,
        epoch_before=1,
        epoch_after=None,
        paths=(),
        move_branch=False,
        started_at=_time(),
        finished_at=None,
    )
    decision = Decision(
        decision_id=decision_id,
        plan_id=plan_id,
        seq=1,
        parent_decision_id=None,
        position=None,
        epoch=None,
        text="",
        rationale="",
        alternatives=(),
        created_at=_time(),
    )
    checkpoint = Checkpoint(
        checkpoint_id=checkpoint_id,
        plan_id=plan_id,
        seq=1,
        position=1,
        epoch=1,
        checkpoint_type=CheckpointType.INITIAL,
        state=CheckpointState.COMPLETE,
        sandbox_ref=None,
        resource_id=sandbox.sandbox_id,
        decision_id=None,
        parent_checkpoint_id=None,
        superseded_by=None,
        filesystem_path="/bare",
        size_bytes=None,
        label=None,
        pinned=False,
        verified_green=False,
        last_completed_step=None,
        created_at=_time(),
    )
    run = Run(
        run_id=run_id,
        plan_id=plan_id,
        number=1,
        status=RunStatus.SUCCESS,
        fence=1,
        host_id=HOST,
        host="",
        actor="",
        holder="",
        command=None,
        lease=Lease(_time(), 0.0),
        argv=(),
        cwd="",
        options=RunOptions(),
        position=None,
        epoch=None,
        decision_id=None,
        pre_checkpoint_id=None,
        post_checkpoint_id=None,
        abort_action=None,
        exit_code=None,
        created_at=_time(),
        started_at=None,
        ended_at=None,
    )
    step = Step(step_id, plan_id, StepName(""), digest="", command=(), directory="")
    mark = Mark(_id("M", 1), step_id, MarkKind.STARTED, epoch=1, position=2, at=_time())
    correction = Correction(
        correction_id=_id("K", 1),
        plan_id=plan_id,
        decision_id=decision_id,
        corrective_decision_id=decision_id,
        mode=CorrectionMode.APPEND,
        guidance="",
        operation_id=operation_id,
        checkpoint_id=None,
        created_at=_time(),
    )
    return [
        *_of_plan(plan, spawn=None),
        _of_operation(operation),
        _of_decision(decision),
        _of_checkpoint(checkpoint, None),
        _of_epoch(Epoch(plan_id, 1, None, None, None), written_with_plan=True),
        _of_run(run),
        _of_step(step),
        _of_mark(plan_id, mark),
        _of_correction(correction),
    ]


def full() -> list[Stored]:
    """Values with every field set, which refer to the bare ones."""
    plan_id, operation_id, run_id = _id("P", 2), _id("O", 2), _id("R", 2)
    decision_id, checkpoint_id, step_id = _id("D", 2), _id("C", 2), _id("S", 2)
    sandbox = Sandbox(
        sandbox_id=_id("B", 2),
        plan_id=plan_id,
        kind=SandboxKind.OWN,
        path=Path("/full/caf\udce9"),
        git_dir=Path("/full/.git/caf\udce9"),
        branch="plan/full",
        base_commit=_id("a", 1),
        store_id="another store",
        host_id="another host",
    )
    plan = Plan(
        plan_id=plan_id,
        repository_id=STORE,
        name="full",
        phase=Phase.EXECUTE,
        state=PlanState.PROCESSING,
        current_epoch=3,
        position=4,
        parent_plan_id=_id("P", 1),
        base_ref="main",
        applied_commit=_id("a", 2),
        created_at=_time(),
        sandbox=sandbox,
        policy={"retention": {"max_checkpoints": 5}},
    )
    operation = Operation(
        operation_id=operation_id,
        plan_id=plan_id,
        number=7,
        kind=OperationKind.ROLLBACK,
        state=OperationState.FAILED,
        actor="ann",
        host="desk",
        command_line="plan rollback full 1",
        reason="it went wrong",
        target_checkpoint_id=_id("C", 1),
        safety_checkpoint_id=_id("C", 1),
        result_checkpoint_id=_id("C", 1),
        entry_operation_id=_id("O", 1),
        stack=Stack.UNDO,
        phase_before=Phase.STRATEGIZE,
        state_before=PlanState.QUEUED,
        phase_after=Phase.APPLY,
        state_after=PlanState.COMPLETE,
        epoch_before=8,
        epoch_after=9,
        paths=("src/a.txt", "b c"),
        move_branch=True,
        started_at=_time(),
        finished_at=_time(),
        result={"files": 3},
    )
    decision = Decision(
        decision_id=decision_id,
        plan_id=plan_id,
        seq=10,
        parent_decision_id=_id("D", 1),
        position=11,
        epoch=12,
        text="use SQLite",
        rationale="it is there",
        alternatives=("files", "a server"),
        created_at=_time(),
    )
    checkpoint = Checkpoint(
        checkpoint_id=checkpoint_id,
        plan_id=plan_id,
        seq=13,
        position=14,
        epoch=15,
        checkpoint_type=CheckpointType.PRE_DECISION,
        state=CheckpointState.COMPLETE,
        sandbox_ref=_id("a", 3),
        resource_id=sandbox.sandbox_id,
        decision_id=decision_id,
        parent_checkpoint_id=_id("C", 1),
        superseded_by=operation_id,
        filesystem_path="/full/caf\udce9",
        size_bytes=1 << 40,
        label="green",
        pinned=True,
        verified_green=True,
        last_completed_step="build",
        created_at=_time(),
        metadata={"reason": "why", "tree": _id("t", 1), "deep": [{"x": None}]},
    )
    run = Run(
        run_id=run_id,
        plan_id=plan_id,
        number=16,
        status=RunStatus.RUNNING,
        fence=17,
        host_id="another host",
        host="desk",
        actor="ann",
        holder="18 19 boot",
        command="20 21 boot",
        lease=Lease(_time(), 22.125),
        argv=("make", "test all"),
        cwd="/full/caf\udce9/src",
        options=RunOptions(
            on_failure=OnFailure.ROLLBACK,
            on_abort=AbortAction.ROLLBACK,
            timeout=23.5,
            verify="make check",
            post_checkpoint=True,
            allow_unprotected=True,
            step=StepOptions("build", "make clean", reuse_failed=True, variables=("PATH",)),
        ),
        position=24,
        epoch=25,
        decision_id=decision_id,
        pre_checkpoint_id=_id("C", 1),
        post_checkpoint_id=checkpoint_id,
        abort_action=AbortAction.INTERRUPT,
        exit_code=26,
        created_at=_time(),
        started_at=_time(),
        ended_at=_time(),
        result={"verified": True},
    )
    step = Step(
        step_id,
        plan_id,
        StepName("build \0 \udce9", 27),
        digest=_id("d", 1),
        command=("make", "caf\udce9"),
        directory="src/caf\udce9",
        decision_id=decision_id,
    )
    mark = Mark(
        mark_id=_id("M", 2),
        step_id=step_id,
        kind=MarkKind.COMPLETED,
        epoch=28,
        position=29,
        at=_time(),
        run_id=run_id,
        attempt_id=_id("M", 1),
        result=Result(Outcome.FAILED, 30, {"said": ["no"]}, OutputState.KEPT, 1 << 41),
    )
    correction = Correction(
        correction_id=_id("K", 2),
        plan_id=plan_id,
        decision_id=_id("D", 1),
        corrective_decision_id=decision_id,
        mode=CorrectionMode.REVERT,
        guidance="a server is better",
        operation_id=operation_id,
        checkpoint_id=checkpoint_id,
        created_at=_time(),
    )
    return [
        *_of_plan(plan, spawn=(31, 32)),
        _of_operation(operation),
        _of_decision(decision),
        _of_checkpoint(checkpoint, _id("O", 1)),
        _of_epoch(Epoch(plan_id, 33, 34, 35, operation_id)),
        _of_run(run),
        _of_step(step),
        _of_mark(plan_id, mark),
        _of_correction(correction),
    ]


def _of_plan(plan: Plan, spawn: tuple[int, int] | None) -> list[Stored]:
    """Two tables, and the place where its parent spawned it."""
    plan_id, sandbox = plan.plan_id, plan.sandbox

    def read(uow: UnitOfWork) -> object:
        children = uow.plans.children(plan.parent_plan_id) if plan.parent_plan_id else []
        places = {child.plan_id: (epoch, position) for child, epoch, position in children}
        return uow.plans.get(plan_id), places.get(plan_id)

    return [
        Stored(
            "plans",
            {"plan_id": plan_id},
            (plan, spawn),
            lambda uow: uow.plans.add(plan, spawn=spawn),
            read,
        ),
        Stored(
            "sandboxes",
            {"sandbox_id": sandbox.sandbox_id},
            sandbox,
            lambda _uow: None,
            lambda uow: uow.plans.get(plan_id).sandbox,
        ),
    ]


def _of_operation(value: Operation) -> Stored:
    return Stored(
        "operations",
        {"operation_id": value.operation_id},
        value,
        lambda uow: uow.operations.add(value),
        lambda uow: uow.operations.get(value.operation_id),
    )


def _of_decision(value: Decision) -> Stored:
    return Stored(
        "decisions",
        {"decision_id": value.decision_id},
        value,
        lambda uow: uow.decisions.add(value),
        lambda uow: uow.decisions.get(value.plan_id, value.decision_id),
    )


def _of_checkpoint(value: Checkpoint, operation: Any) -> Stored:
    return Stored(
        "checkpoint_metadata",
        {"checkpoint_id": value.checkpoint_id},
        value,
        lambda uow: uow.checkpoints.announce(value, operation_id=operation),
        lambda uow: uow.checkpoints.get(value.checkpoint_id),
    )


def _of_epoch(value: Epoch, *, written_with_plan: bool = False) -> Stored:
    return Stored(
        "epochs",
        {"plan_id": value.plan_id, "epoch": value.number},
        value,
        lambda uow: None if written_with_plan else uow.epochs.add(value),
        lambda uow: uow.epochs.all(value.plan_id)[value.number],
    )


def _of_run(value: Run) -> Stored:
    return Stored(
        "runs",
        {"run_id": value.run_id},
        value,
        lambda uow: uow.runs.add(value),
        lambda uow: uow.runs.get(value.run_id),
    )


def _of_step(value: Step) -> Stored:
    def read(uow: UnitOfWork) -> object:
        if value.decision_id:
            return uow.steps.carrying(value.decision_id)[0]
        return uow.steps.ledger(value.plan_id, Lineage.root()).entries[0].step

    return Stored(
        "steps", {"step_id": value.step_id}, value, lambda uow: uow.steps.add(value), read
    )


def _of_mark(plan_id: Any, value: Mark) -> Stored:
    return Stored(
        "step_marks",
        {"mark_id": value.mark_id},
        value,
        lambda uow: uow.steps.append(plan_id, value),
        lambda uow: uow.steps.marks(plan_id)[0],
    )


def _of_correction(value: Correction) -> Stored:
    return Stored(
        "corrections",
        {"correction_id": value.correction_id},
        value,
        lambda uow: uow.corrections.add(value),
        lambda uow: uow.corrections.list(value.plan_id)[0],
    )


WITH = {"every field set": full, "every optional field empty": bare}


@contextmanager
def opened(world: World) -> Generator[tuple[Engine, Database]]:
    """A database with tables, whose rows belong to no repository."""
    url = world.rows.environment().get("PLAN_DATABASE_URL") or world.root / "stored.db"
    engine = create_database_engine(url)
    try:
        ensure_schema(engine)
        yield engine, Database(engine, store_id=STORE, host_id=HOST)
    finally:
        engine.dispose()


def raw_row(engine: Engine, stored: Stored) -> dict[str, object]:
    """What is in the columns, whatever their types make of it."""
    table = Base.metadata.tables[stored.table]
    keys = [table.c[name] == value for name, value in stored.key.items()]
    with engine.connect() as connection:
        return dict(connection.execute(select(table).where(*keys)).mappings().one())
