"""What is written down about steps: each of these happens inside a transaction of the caller's."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, Unpack

from backtrail.domain.errors import RefusedError
from backtrail.domain.ids import MarkId, StepId
from backtrail.domain.step import (
    Ledger,
    Mark,
    MarkKind,
    Result,
    Step,
    StepEntry,
    StepName,
    StepVerdict,
    step_verdict,
)
from backtrail.services.references import current_decision
from backtrail.services.session.context import new_id

if TYPE_CHECKING:
    from datetime import datetime

    from backtrail.domain.ids import RunId
    from backtrail.domain.plan import Plan
    from backtrail.domain.step import Digests
    from backtrail.storage.database import UnitOfWork


class MarkDetails(TypedDict, total=False):
    """What only some marks have."""

    run_id: RunId | None
    attempt_id: MarkId | None
    result: Result | None


@dataclass(frozen=True, slots=True)
class StepRequest:
    """A step that is asked for."""

    name: StepName
    digests: Digests
    command: tuple[str, ...]
    """Without secrets."""
    directory: str = ""
    reuse_failed: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is to be done about a request, and the entry that holds its name."""

    verdict: StepVerdict
    entry: StepEntry | None
    dropped: int = 0
    """How many steps go if it is started: itself as it was, and those that began after it."""

    @property
    def held(self) -> StepEntry:
        """The entry, where the verdict says that there is one."""
        if self.entry is None:
            raise AssertionError
        return self.entry


@dataclass(frozen=True, slots=True)
class Attempt:
    """A step that was started; its completion is recorded under the same id."""

    step: Step
    start: Mark


def ledger_now(uow: UnitOfWork, plan: Plan) -> Ledger:
    """The steps of a plan as they stand."""
    lineage = uow.epochs.lineage(plan.plan_id, plan.current_epoch)
    return uow.steps.ledger(plan.plan_id, lineage)


def judge(
    uow: UnitOfWork, plan: Plan, request: StepRequest, active: Collection[RunId]
) -> Judgement:
    """What to do about a step; refused while another one of an active run has not ended."""
    ledger = ledger_now(uow, plan)
    busy = ledger.under_way(active)
    if busy is not None:
        raise RefusedError(
            f"step {busy.step.name.key!r} of plan {plan.name!r} has not ended yet",
            hint="steps run one after the other; start this one when that one has ended",
        )
    entry = ledger.named(request.name)
    found = step_verdict(entry, request.digests, reuse_failed=request.reuse_failed)
    later = [e for e in ledger.valid if entry and e.place >= entry.place]
    return Judgement(found, entry, len(later) if found is StepVerdict.CHANGED else 0)


def kept_outputs(uow: UnitOfWork, plan: Plan) -> set[MarkId]:
    """The attempts whose output must stay where it is."""
    marks = uow.steps.marks(plan.plan_id)
    return {m.attempt_id for m in marks if m.attempt_id and m.keeps_output}


def record_reuse(uow: UnitOfWork, plan: Plan, entry: StepEntry, at: datetime) -> None:
    _append(uow, plan, entry.step, MarkKind.REUSED, at)


def record_start(
    uow: UnitOfWork,
    plan: Plan,
    request: StepRequest,
    judgement: Judgement,
    run_id: RunId,
    at: datetime,
) -> Attempt:
    """Write down that a step begins; what it replaces is dropped first."""
    entry = judgement.entry
    if entry is not None and judgement.verdict is StepVerdict.CHANGED:
        _append(uow, plan, entry.step, MarkKind.DROPPED, at, run_id=run_id)
        entry = None
    step = entry.step if entry is not None else _new_step(uow, plan, request)
    return Attempt(step, _append(uow, plan, step, MarkKind.STARTED, at, run_id=run_id))


def record_completion(
    uow: UnitOfWork,
    plan: Plan,
    attempt: Attempt,
    result: Result,
    at: datetime,
    *,
    position: int | None = None,
) -> None:
    """Write down how a step ended, unless it has been taken off the timeline meanwhile.

    With `position` in a place that was set aside before: a checkpoint that was taken since holds
    the step's work, and must know that it is done.
    """
    start = attempt.start
    lineage = uow.epochs.lineage(plan.plan_id, plan.current_epoch)
    if not lineage.contains(start.epoch, start.position):
        raise RefusedError(
            f"step {attempt.step.name.key!r} was taken back while it ran; its end is not recorded",
            hint=f"plan ops {plan.name} shows who did so",
        )
    _append(
        uow,
        plan,
        attempt.step,
        MarkKind.COMPLETED,
        at,
        run_id=start.run_id,
        attempt_id=start.mark_id,
        result=result,
        position=position,
    )


def _new_step(uow: UnitOfWork, plan: Plan, request: StepRequest) -> Step:
    step = Step(
        step_id=StepId(new_id()),
        plan_id=plan.plan_id,
        name=request.name,
        digest=request.digests.now,
        command=request.command,
        directory=request.directory,
        decision_id=current_decision(uow, plan),
    )
    uow.steps.add(step)
    return step


def _append(
    uow: UnitOfWork,
    plan: Plan,
    step: Step,
    kind: MarkKind,
    at: datetime,
    *,
    position: int | None = None,
    **more: Unpack[MarkDetails],
) -> Mark:
    mark = Mark(
        mark_id=MarkId(new_id()),
        step_id=step.step_id,
        kind=kind,
        epoch=plan.current_epoch,
        position=position or uow.plans.next_position(plan.plan_id),
        at=at,
        **more,
    )
    uow.steps.append(plan.plan_id, mark)
    return mark
