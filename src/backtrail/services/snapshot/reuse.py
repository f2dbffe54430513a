"""Automatic checkpoints: one that would say the same as the latest is not made again.

Runs that are no steps leave nothing behind but what they did to the sandbox. So if nothing else has
taken a place since the latest checkpoint, and the sandbox is as it was there, that one will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.operation import OperationKind
from backtrail.services.retention.prune import keep_within_limits
from backtrail.services.session.journal import Entry
from backtrail.services.snapshot.create import create_checkpoint, kept_commits

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint, CheckpointRequest
    from backtrail.domain.plan import Plan
    from backtrail.git.checkpoint.state import Captured
    from backtrail.services.session.context import LockedSandbox
    from backtrail.storage.database import UnitOfWork


@dataclass(frozen=True, slots=True)
class Automatic:
    """A checkpoint that stands for the sandbox as it is, made now or earlier."""

    checkpoint: Checkpoint
    reused: bool


def automatic_checkpoint(locked: LockedSandbox, request: CheckpointRequest) -> Automatic:
    """The latest checkpoint if nothing has moved since, else a new one."""
    ws = locked.workspace
    with ws.database.read() as uow:
        plan = uow.plans.get(locked.plan.plan_id)
        latest = uow.checkpoints.latest(plan.plan_id)
        comparable = latest is not None and _nothing_but_runs_since(uow, plan, latest)
    captured = None
    if latest is not None and comparable:
        ws.progress("looking at the sandbox")
        captured = locked.camera.capture(known_heads=kept_commits(latest))
        if _says_the_same(latest, captured):
            return Automatic(latest, reused=True)
    entry = Entry(OperationKind.CHECKPOINT, reason=request.reason)
    made = create_checkpoint(locked, request, captured=captured, log=entry)
    keep_within_limits(locked)
    return Automatic(made.checkpoint, reused=False)


def _nothing_but_runs_since(uow: UnitOfWork, plan: Plan, latest: Checkpoint) -> bool:
    """Whether no step, decision, child plan or checkpoint has taken a place after it."""
    places = plan.position - latest.position
    return places == 0 or places == uow.runs.count_after(plan.plan_id, latest.position)


def _says_the_same(latest: Checkpoint, captured: Captured) -> bool:
    """Whether files, index, HEAD and branch are those of the checkpoint."""
    known = (latest.metadata.get("tree"), latest.metadata.get("state_commit"))
    return known == (captured.tree, captured.state_commit)
