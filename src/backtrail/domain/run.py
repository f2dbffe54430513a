"""Runs: a command under the protection of a checkpoint, and what becomes of it at its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from backtrail.domain.errors import ExitCode
from backtrail.domain.redaction import holds_redacted, redacted
from backtrail.domain.step import StepOptions

if TYPE_CHECKING:
    from datetime import datetime

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.errors import BacktrailError
    from backtrail.domain.ids import CheckpointId, DecisionId, PlanId, RunId
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback import RollbackResult


Words = TypeVar("Words", bound=StrEnum)


class RunStatus(StrEnum):
    """`pending`: admitted; `finalizing`: its command has ended, and nothing can abort it now."""

    PENDING = "pending"
    RUNNING = "running"
    FINALIZING = "finalizing"
    SUCCESS = "success"
    ERROR = "error"
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"
    ROLLED_BACK = "rolled_back"


LIVE_STATUSES = (RunStatus.PENDING, RunStatus.RUNNING, RunStatus.FINALIZING)
ABORTABLE = (RunStatus.PENDING, RunStatus.RUNNING)


class OnFailure(StrEnum):
    ROLLBACK = "rollback"
    KEEP = "keep"


class AbortAction(StrEnum):
    ROLLBACK = "rollback"
    INTERRUPT = "interrupt"


class IfRunning(StrEnum):
    REJECT = "reject"
    INTERRUPT = "interrupt"
    ROLLBACK = "rollback"


class Cause(StrEnum):
    """Why a command came to its end: by itself, or who ended it."""

    EXIT = "exit"
    TIMEOUT = "timeout"
    SIGNAL = "signal"
    REQUEST = "request"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run does in which case; it is written down, so that a crashed run can go on."""

    on_failure: OnFailure = OnFailure.KEEP
    on_abort: AbortAction = AbortAction.INTERRUPT
    timeout: float | None = None
    """In seconds."""
    verify: str | None = None
    """A line for the shell: the run succeeded only if this does."""
    post_checkpoint: bool = False
    allow_unprotected: bool = False
    step: StepOptions | None = None
    """Set for a command that is a step."""

    @property
    def wants_post_checkpoint(self) -> bool:
        return self.post_checkpoint or self.verify is not None

    def redacted(self) -> RunOptions:
        """The same without secrets in the lines for the shell."""
        verify = None if self.verify is None else redacted(self.verify)
        return replace(self, verify=verify, step=self.step and self.step.redacted())

    @property
    def holds_redacted(self) -> bool:
        """Whether a line for the shell is not as it was given."""
        lines = (self.verify, self.step and self.step.reconcile)
        return holds_redacted([line for line in lines if line])

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "step": self.step and self.step.as_json()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RunOptions:
        """What was written down; a value that makes no sense is the usual one."""
        usual, seconds, verify = cls(), stored.get("timeout"), stored.get("verify")
        return cls(
            on_failure=_word(OnFailure, stored.get("on_failure"), usual.on_failure),
            on_abort=_word(AbortAction, stored.get("on_abort"), usual.on_abort),
            timeout=float(seconds) if isinstance(seconds, int | float) else None,
            verify=verify if isinstance(verify, str) else None,
            post_checkpoint=stored.get("post_checkpoint") is True,
            allow_unprotected=stored.get("allow_unprotected") is True,
            step=StepOptions.from_json(stored.get("step")),
        )


def _word(words: type[Words], stored: object, usual: Words) -> Words:
    return words(stored) if stored in set(words) else usual


@dataclass(frozen=True, slots=True)
class Lease:
    """Until when a run is its holder's; each renewal moves it on.

    `clock` is the holder's monotonic clock, which other processes of the same boot share: unlike
    `until` it does not jump.
    """

    until: datetime
    clock: float


@dataclass(frozen=True, slots=True)
class Run:
    """One row of `runs` as the rest of the program sees it."""

    run_id: RunId
    plan_id: PlanId
    number: int
    status: RunStatus
    fence: int
    """Grows with every admission and every take-over; who holds an older one writes nothing."""
    host_id: str
    host: str
    actor: str
    holder: str
    """The process that looks after the run, see `backtrail.processes.table`."""
    command: str | None
    """The process of the command itself."""
    lease: Lease
    argv: tuple[str, ...]
    """Empty for a block of Python code."""
    cwd: str
    options: RunOptions
    position: int | None
    epoch: int | None
    decision_id: DecisionId | None
    """The decision that was current when it started."""
    pre_checkpoint_id: CheckpointId | None
    post_checkpoint_id: CheckpointId | None
    abort_action: AbortAction | None
    """Set once somebody asked for its end."""
    exit_code: int | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    result: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def live(self) -> bool:
        return self.status in LIVE_STATUSES


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

    @property
    def succeeded(self) -> bool:
        return self.cause is Cause.EXIT and self.exit_code == 0 and self.problem is None


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
