"""What is written down about the steps of a plan, inside of one transaction."""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypedDict, Unpack

from backtrail.domain.errors import RefusedError
from backtrail.domain.ids import MarkId, StepId
from backtrail.domain.ledger import Ledger, StepEntry, StepVerdict, step_verdict
from backtrail.domain.step import Mark, MarkKind, Result, Step, StepName
from backtrail.services.references import timeline_of
from backtrail.services.session.context import new_id

if TYPE_CHECKING:
    from backtrail.domain.ids import PlanId, RunId
    from backtrail.domain.plan import Plan
    from backtrail.domain.step import Digests
    from backtrail.domain.timeline import Lineage
    from backtrail.services.session.context import Workspace
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
    start: Mark | None = None
    """Set once it was started: its completion is recorded under the same id."""

    @property
    def held(self) -> StepEntry:
        """The entry, where the verdict says that there is one."""
        if self.entry is None:
            raise AssertionError
        return self.entry


def end_not_known(key: str, *, reconciled: bool) -> str:
    how = "it is reconciled" if reconciled else "it runs again"
    return f"step {key!r} was started before and its end is not known: {how}"


def ledger_now(uow: UnitOfWork, plan: Plan) -> Ledger:
    """The steps of a plan as they stand."""
    return uow.steps.ledger(plan.plan_id, timeline_of(uow, plan))


@contextmanager
def recording_steps(ws: Workspace, plan_id: PlanId) -> Generator[StepRecords]:
    """The steps of a plan, which nobody else changes meanwhile."""
    with ws.database.write() as uow:
        yield StepRecords(ws, uow, uow.plans.lock(plan_id))


class StepRecords:
    """The steps of a locked plan."""

    def __init__(self, ws: Workspace, uow: UnitOfWork, plan: Plan) -> None:
        self._ws, self.uow, self._plan = ws, uow, plan

    @cached_property
    def _lineage(self) -> Lineage:
        return timeline_of(self.uow, self._plan)

    def begin(self, request: StepRequest, run_id: RunId) -> Judgement:
        """Start a step of a run, or use its record again if it can be."""
        judgement = self.reuse_if_done(request, active=(run_id,))
        if judgement.verdict is StepVerdict.REUSE:
            return judgement
        return replace(judgement, start=self._started(request, judgement, run_id))

    def reuse_if_done(self, request: StepRequest, active: Collection[RunId] = ()) -> Judgement:
        """What to do about a step; if it is to be used again, that is recorded."""
        judgement = self._judged(request, active)
        if judgement.verdict is StepVerdict.REUSE:
            self._append(judgement.held.step.step_id, MarkKind.REUSED)
        return judgement

    def _judged(self, request: StepRequest, active: Collection[RunId]) -> Judgement:
        """Refused while another one of an active run has not ended."""
        ledger = self.uow.steps.ledger(self._plan.plan_id, self._lineage)
        busy = ledger.under_way(active)
        if busy is not None:
            raise RefusedError(
                f"step {busy.step.name.key!r} of plan {self._plan.name!r} has not ended yet",
                hint="steps run one after the other; start this one when that one has ended",
            )
        entry = ledger.named(request.name)
        found = step_verdict(entry, request.digests, reuse_failed=request.reuse_failed)
        later = [e for e in ledger.valid if entry and e.place >= entry.place]
        return Judgement(found, entry, len(later) if found is StepVerdict.CHANGED else 0)

    def _started(self, request: StepRequest, judgement: Judgement, run_id: RunId) -> Mark:
        """Write down that a step begins; what it replaces is dropped first."""
        entry = judgement.entry
        if entry is not None and judgement.verdict is StepVerdict.CHANGED:
            self._append(entry.step.step_id, MarkKind.DROPPED, run_id=run_id)
            entry = None
        step = entry.step if entry is not None else self._new_step(request)
        return self._append(step.step_id, MarkKind.STARTED, run_id=run_id)

    def complete(self, key: str, start: Mark, result: Result, position: int | None = None) -> None:
        """Write down how a step ended, unless it has been taken off the timeline meanwhile.

        With `position` in a place that was set aside before: a checkpoint that was taken since
        holds the step's work, and must know that it is done.
        """
        if not self._lineage.contains(start.epoch, start.position):
            raise RefusedError(
                f"step {key!r} was taken back while it ran; its end is not recorded",
                hint=f"plan ops {self._plan.name} shows who did so",
            )
        self._append(
            start.step_id,
            MarkKind.COMPLETED,
            position,
            run_id=start.run_id,
            attempt_id=start.mark_id,
            result=result,
        )

    def kept_outputs(self) -> set[MarkId]:
        """The attempts whose output must stay where it is."""
        marks = self.uow.steps.marks(self._plan.plan_id)
        return {m.attempt_id for m in marks if m.attempt_id and m.keeps_output}

    def _new_step(self, request: StepRequest) -> Step:
        plan_id = self._plan.plan_id
        step = Step(
            step_id=StepId(new_id()),
            plan_id=plan_id,
            name=request.name,
            digest=request.digests.now,
            command=request.command,
            directory=request.directory,
            decision_id=self.uow.decisions.newest_in(plan_id, self._lineage),
        )
        self.uow.steps.add(step)
        return step

    def _append(
        self,
        step_id: StepId,
        kind: MarkKind,
        position: int | None = None,
        **more: Unpack[MarkDetails],
    ) -> Mark:
        plan = self._plan
        mark = Mark(
            mark_id=MarkId(new_id()),
            step_id=step_id,
            kind=kind,
            epoch=plan.current_epoch,
            position=position or self.uow.plans.next_position(plan.plan_id),
            at=self._ws.now(),
            **more,
        )
        self.uow.steps.append(plan.plan_id, mark)
        return mark
