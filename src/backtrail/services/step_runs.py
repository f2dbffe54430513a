"""Running a command as a step: what is done already is not done again.

A step that is reused touches nothing: it needs no run and no checkpoint, and takes none. Whether
it can be is decided while no run of the plan is live, after whatever a crash left was repaired.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.domain.errors import UsageError
from backtrail.domain.redaction import redacted_words
from backtrail.domain.step import StepName, StepOptions, check_key
from backtrail.domain.step_digest import command_digests
from backtrail.domain.steps import StepVerdict
from backtrail.services.access import writing
from backtrail.services.digest_key import digest_key
from backtrail.services.guards import check_plan_allows_work
from backtrail.services.step_records import StepRequest, judge, ledger_now, record_reuse
from backtrail.services.step_replay import replay
from backtrail.services.steps import ListedStep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrail.domain.plan import Plan
    from backtrail.domain.run_verdict import RunOutcome
    from backtrail.domain.steps import StepEntry
    from backtrail.services.run_admission import RunOrder
    from backtrail.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """A step that was asked for, and the run that it took, if it took one."""

    plan: Plan
    step: ListedStep | None
    """None if it is not on the timeline any more: a failed run was rolled back."""
    reused: bool
    exit_code: int
    run: RunOutcome | None


def step_request(
    ws: Workspace, order: RunOrder, step: StepOptions, environ: Mapping[str, str]
) -> StepRequest:
    """The step that an order means, with all that matters."""
    for name in step.variables:
        if not name or "=" in name or "\0" in name:
            raise UsageError(
                f"{name!r} is not the name of a variable",
                hint="--env takes a name alone; its value is what the environment says",
            )
    directory = _below(Path(os.path.realpath(ws.plan(order.plan_id).sandbox.path)), order.cwd)
    values = {name: environ.get(name) for name in step.variables}
    return StepRequest(
        name=StepName(check_key(step.key)),
        digests=command_digests(digest_key(ws.layout), order.argv, directory, values),
        command=redacted_words(order.argv),
        directory=directory,
        reuse_failed=step.reuse_failed,
    )


def _below(root: Path, place: str) -> str:
    relative = Path(place).relative_to(root)
    return "" if relative == Path() else str(relative)


def reusable(ws: Workspace, order: RunOrder, request: StepRequest) -> StepEntry | None:
    """The step if its result can be used again, which is then on record; else it must run."""
    with writing(ws, order.plan_id, wait=order.wait), ws.database.write() as uow:
        plan = uow.plans.lock(order.plan_id)
        check_plan_allows_work(plan)
        if uow.runs.live(plan.plan_id) is not None:
            return None
        judgement = judge(uow, plan, request, active=())
        if judgement.verdict is not StepVerdict.REUSE:
            return None
        record_reuse(uow, plan, judgement.held, ws.now())
        return ledger_now(uow, plan).named(request.name)


def reused_outcome(ws: Workspace, entry: StepEntry, streams: Mapping[int, int]) -> StepOutcome:
    """The record of a step, printed once more; nothing was run."""
    code = replay(ws, entry, streams)
    step = ListedStep(entry, entry.status(()))
    return StepOutcome(ws.plan(entry.step.plan_id), step, reused=True, exit_code=code, run=None)


def run_outcome(ws: Workspace, request: StepRequest, outcome: RunOutcome) -> StepOutcome:
    """The step after its run, if the run left it on the timeline."""
    with ws.database.read() as uow:
        entry = ledger_now(uow, outcome.plan).named(request.name)
    step = ListedStep(entry, entry.status(())) if entry else None
    return StepOutcome(outcome.plan, step, reused=False, exit_code=outcome.exit_code, run=outcome)
