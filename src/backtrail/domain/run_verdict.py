"""What becomes of a run once its command has ended: a pure function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backtrail.domain.errors import ExitCode
from backtrail.domain.run import AbortAction, Cause, OnFailure, RunOptions, RunStatus

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.errors import BacktrailError
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback import RollbackResult
    from backtrail.domain.run import Run


@dataclass(frozen=True, slots=True)
class Ending:
    """How the command, or the check after it, came to its end."""

    cause: Cause
    exit_code: int
    started: bool = True
    """False if it never was: there is nothing to take back then."""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    problem: BacktrailError | None = None
    """What Backtrail itself could not do around it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    status: RunStatus
    """What the run is called if its files are kept."""
    exit_code: int
    rollback: bool
    abort_action: AbortAction | None = None


def verdict(ending: Ending, options: RunOptions, asked: AbortAction | None) -> Verdict:
    """A recorded wish to end the run beats a success that came at the same time."""
    started = ending.started
    if asked is not None or ending.cause in (Cause.SIGNAL, Cause.REQUEST):
        action = asked or options.on_abort
        rollback = started and action is AbortAction.ROLLBACK
        return Verdict(RunStatus.INTERRUPTED, ExitCode.INTERRUPTED, rollback, action)
    if ending.problem is not None:
        return Verdict(RunStatus.ERROR, ExitCode.NOT_RUN, rollback=False)
    if ending.cause is Cause.TIMEOUT:
        # It did not succeed, and it did not end by itself: whichever was meant, it is meant here.
        back = (OnFailure.ROLLBACK, AbortAction.ROLLBACK)
        rollback = started and (options.on_failure in back or options.on_abort in back)
        return Verdict(RunStatus.TIMEOUT, ExitCode.TIMED_OUT, rollback)
    if ending.exit_code == 0:
        return Verdict(RunStatus.SUCCESS, ExitCode.OK, rollback=False)
    rollback = started and options.on_failure is OnFailure.ROLLBACK
    return Verdict(RunStatus.ERROR, ending.exit_code, rollback)


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """A run that is over, and what was done about it."""

    plan: Plan
    run: Run
    exit_code: int
    pre_checkpoint: Checkpoint | None
    post_checkpoint: Checkpoint | None
    rollback: RollbackResult | None = None
    problem: BacktrailError | None = None
    """Why what was wanted was not done, such as a rollback; the exit code is 125 then."""
