"""Going on with a plan whose run crashed: what was done, and what is still to do."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.errors import BusyError, FailedError, RefusedError
from backtrail.domain.redaction import holds_redacted, redacted_words
from backtrail.domain.run import RunStatus
from backtrail.services.run_lease import Health, health
from backtrail.services.step_records import ledger_now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrail.domain.ids import PlanId
    from backtrail.domain.plan import Plan
    from backtrail.domain.run import Run
    from backtrail.domain.run_verdict import RunOutcome
    from backtrail.services.step_runs import StepOutcome
    from backtrail.services.workspace import Workspace
    from backtrail.storage.database import UnitOfWork


@dataclass(frozen=True, slots=True)
class Progress:
    """What of a crashed run was completed, and what is pending, in words and in order."""

    completed: tuple[str, ...]
    pending: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resumption:
    """A crashed run, how far it got, and what came of running it again."""

    plan: Plan
    run: Run
    progress: Progress
    outcome: RunOutcome | StepOutcome | None = None
    """None for a dry run."""


def resumable(ws: Workspace, plan_id: PlanId) -> Resumption:
    """The newest run, if it was interrupted: by a crash, a signal or `plan abort`."""
    with ws.database.read() as uow:
        plan, newest = uow.plans.get(plan_id), uow.runs.list(plan_id, 1)
        run = newest[0] if newest else None
        if run is not None and run.live and health(ws, run) is Health.ALIVE:
            raise BusyError(f"run {run.number} of this plan is active", hint="wait for it")
        if run is None or not (run.live or run.status is RunStatus.INTERRUPTED):
            how = f"run {run.number} ended with {run.status}" if run else "nothing was run"
            raise FailedError(
                f"there is nothing to resume: {how}", hint=f"plan runs {plan.name} shows all runs"
            )
        if not run.argv:
            raise RefusedError(
                f"run {run.number} was a block of Python code",
                hint="start the program again that ran it",
            )
        return Resumption(plan, run, progress_of(uow, plan, run))


def command_of(ws: Workspace, plan_id: PlanId, run: Run, given: Sequence[str]) -> tuple[str, ...]:
    """The words of a run's command: as recorded or, if a secret was in them, as given again."""
    recorded, name = shlex.join(run.argv), ws.plan(plan_id).name
    if run.options.holds_redacted:
        raise RefusedError(
            f"run {run.number} had a secret in --verify or --reconcile, which is not kept",
            hint="plan run with the same options and the same command begins it anew",
        )
    if given and redacted_words(given) != run.argv:
        raise RefusedError(
            f"this is not the command of run {run.number}, which was: {recorded}",
            hint=f"plan run {name} -- COMMAND runs another one",
        )
    if not given and holds_redacted(run.argv):
        raise RefusedError(
            f"the command of run {run.number} had a secret in it, which is not kept: {recorded}",
            hint=f"give it again: plan resume {name} -- COMMAND",
        )
    return tuple(given) or run.argv


def progress_of(uow: UnitOfWork, plan: Plan, run: Run) -> Progress:
    """How far the plan and its crashed run got: steps first, then the run itself."""
    steps = ledger_now(uow, plan)
    before = uow.checkpoints.get(run.pre_checkpoint_id) if run.pre_checkpoint_id else None
    completed = [f"step {entry.step.name.key}" for entry in steps.succeeded]
    completed += [f"checkpoint {before.seq} before run {run.number}"] if before else []
    pending = [f"step {entry.step.name.key}" for entry in steps.pending]
    return Progress(tuple(completed), (*pending, f"run {run.number}: {shlex.join(run.argv)}"))
