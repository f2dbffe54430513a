"""The facade for Python programs: a repository, its plans, and what can be done with each.

    from backtrail.api import open_repo

    with open_repo(".") as repo:
        auth = repo.plan("auth")
        auth.corrections.revert("D3", "sign the cookies instead")

Whatever goes wrong is a `BacktrailError` with a sentence, a hint and the exit code that the
command line would end with. Nothing is asked: who calls has decided.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, Self, TypeVar

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.correction import CorrectionMode
from backtrail.domain.decision import DecisionRequest
from backtrail.domain.errors import BacktrailError, ExitCode
from backtrail.domain.rollback import RollbackRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from backtrail.bootstrap import Services
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.correction import CorrectionResult
    from backtrail.domain.decision import StandingDecision
    from backtrail.domain.plan import Plan
    from backtrail.domain.rollback import DiffResult, RollbackResult
    from backtrail.domain.run import Run, RunOptions, RunOutcome
    from backtrail.domain.tools import ToolCall
    from backtrail.services.runs.active import ActiveRun

__all__ = (
    "BacktrailError",
    "CheckpointRequest",
    "CheckpointType",
    "CorrectionMode",
    "DecisionRequest",
    "ExitCode",
    "PlanCheckpoints",
    "PlanCorrections",
    "PlanDecisions",
    "PlanHandle",
    "PlanRuns",
    "PlanTools",
    "Repo",
    "RollbackRequest",
    "open_repo",
)

P = ParamSpec("P")
R = TypeVar("R")
WAIT = 30.0
"""How many seconds to wait for a sandbox that another process works in."""


def open_repo(
    path: str | os.PathLike[str] = ".", *, environ: Mapping[str, str] | None = None
) -> Repo:
    """The repository that holds a path; close it, or use it in a `with` statement."""
    from backtrail.bootstrap import open_services

    services = open_services(
        Path(path).absolute(),
        os.environ if environ is None else environ,
        command_line="backtrail.api",
    )
    return Repo(services)


class Repo:
    """A repository with its plans."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def plan(self, name: str) -> PlanHandle:
        """The plan with that name or id."""
        return PlanHandle(self._services, self._services.plans.resolve(name))

    def create(self, name: str) -> PlanHandle:
        """A new plan with a sandbox of its own; one that is there already is taken as it is."""
        created = self._services.plans.create(name, use_existing=True)
        return PlanHandle(self._services, created.plan)

    @property
    def notices(self) -> tuple[str, ...]:
        """What recovery did on the way, in sentences."""
        return tuple(self._services.notices)

    def close(self) -> None:
        self._services.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        del error
        self.close()


class PlanHandle:
    """One plan, and the services as far as they are about it."""

    def __init__(self, services: Services, plan: Plan) -> None:
        self._services = services
        self._plan = plan

    @property
    def name(self) -> str:
        return self._plan.name

    @property
    def sandbox(self) -> Path:
        """The directory that the plan works in."""
        return self._plan.sandbox.path

    @property
    def branch(self) -> str | None:
        """The branch that the sandbox was made on, if it was on one."""
        return self._plan.sandbox.branch

    @property
    def checkpoints(self) -> PlanCheckpoints:
        return PlanCheckpoints(self._services, self._plan)

    @property
    def decisions(self) -> PlanDecisions:
        return PlanDecisions(self._services, self._plan)

    @property
    def corrections(self) -> PlanCorrections:
        return PlanCorrections(self._services, self._plan)

    @property
    def runs(self) -> PlanRuns:
        return PlanRuns(self._services, self._plan)

    @property
    def tools(self) -> PlanTools:
        return PlanTools(self._services, self._plan)


class PlanCheckpoints:
    """`CheckpointService` for one plan."""

    def __init__(self, services: Services, plan: Plan) -> None:
        self._service, self._plan = services.checkpoints, plan.plan_id

    def create(self, request: CheckpointRequest | None = None, *, wait: float = WAIT) -> Checkpoint:
        """Record the sandbox as it is now."""
        return self._service.create_checkpoint(self._plan, request, wait=wait)

    def list(self, *, include_all: bool = False) -> list[Checkpoint]:
        """Live checkpoints, oldest first; all of them with `include_all`."""
        return self._service.list_checkpoints(self._plan, include_all=include_all)

    def get(self, reference: str) -> Checkpoint:
        return self._service.get_checkpoint(self._plan, reference)

    def diff(self, reference: str, to: str | None = None) -> DiffResult:
        """What differs between a checkpoint and another one, or the sandbox as it is now."""
        return self._service.diff(self._plan, reference, to)

    def rollback(
        self,
        reference: str,
        request: RollbackRequest | None = None,
        *,
        dry_run: bool = False,
        reason: str = "",
        wait: float = WAIT,
    ) -> RollbackResult:
        """Bring a checkpoint back exactly and prove it."""
        request = request or RollbackRequest(reason=reason)
        return self._service.rollback_to_checkpoint(
            self._plan, reference, request, dry_run=dry_run, wait=wait
        )

    def undo(
        self, *, dry_run: bool = False, during_merge: bool = False, wait: float = WAIT
    ) -> RollbackResult:
        """Take the last rollback, revert or redo back."""
        return self._service.undo(self._plan, dry_run=dry_run, during_merge=during_merge, wait=wait)

    def redo(
        self, *, dry_run: bool = False, during_merge: bool = False, wait: float = WAIT
    ) -> RollbackResult:
        """Take the last undo back."""
        return self._service.redo(self._plan, dry_run=dry_run, during_merge=during_merge, wait=wait)


class PlanDecisions:
    """`DecisionService` for one plan."""

    def __init__(self, services: Services, plan: Plan) -> None:
        self._service, self._plan = services.decisions, plan.plan_id

    def add(
        self,
        text: str,
        *,
        parent: str | None = None,
        rationale: str = "",
        alternatives: Sequence[str] = (),
        wait: float = WAIT,
    ) -> StandingDecision:
        """Take a checkpoint and record a choice, which is the current decision then."""
        request = DecisionRequest(text, parent, rationale, tuple(alternatives))
        return self._service.add(self._plan, request, wait=wait)

    def list(self, *, include_all: bool = False) -> tuple[StandingDecision, ...]:
        """Live decisions, oldest first; all of them with `include_all`."""
        return self._service.list(self._plan, include_all=include_all).entries

    def get(self, reference: str = "current") -> StandingDecision:
        return self._service.get(self._plan, reference)


class PlanCorrections:
    """`CorrectionService` for one plan."""

    def __init__(self, services: Services, plan: Plan) -> None:
        self._service, self._plan = services.corrections, plan.plan_id

    def revert(
        self,
        decision: str,
        guidance: str,
        *,
        nearest: bool = False,
        during_merge: bool = False,
        abort_run: bool = False,
        wait: float = WAIT,
    ) -> CorrectionResult:
        """Go back to just before a decision and put the guidance in its place."""
        return self._service.revert(
            self._plan,
            decision,
            guidance,
            nearest=nearest,
            during_merge=during_merge,
            abort_run=abort_run,
            wait=wait,
        )

    def append(self, decision: str, guidance: str, *, wait: float = WAIT) -> CorrectionResult:
        """Add the guidance below a decision that stays as it is."""
        return self._service.append(self._plan, decision, guidance, wait=wait)

    def preview(
        self, decision: str, guidance: str, *, mode: CorrectionMode, nearest: bool = False
    ) -> CorrectionResult:
        """Exactly what `revert` or `append` would do; nothing of it is done."""
        return self._service.preview(self._plan, decision, guidance, mode=mode, nearest=nearest)


class PlanRuns:
    """`RunService` for one plan."""

    def __init__(self, services: Services, plan: Plan) -> None:
        self._service, self._plan = services.runs, plan.plan_id

    def execute(self, argv: Sequence[str], options: RunOptions | None = None) -> RunOutcome:
        """Run a command in the sandbox, under the protection of a checkpoint."""
        return self._service.execute(self._plan, argv, options)

    def run(self, options: RunOptions | None = None) -> AbstractContextManager[ActiveRun]:
        """A block of Python code under the same protection."""
        return self._service.run(self._plan, options)

    def list(self, *, limit: int | None = None) -> list[Run]:
        """Newest first."""
        return self._service.list_runs(self._plan, limit=limit)


class PlanTools:
    """`ToolService` for one plan: calls with the checkpoints that plan.toml declares for them."""

    def __init__(self, services: Services, plan: Plan) -> None:
        self._service, self._plan = services.tools, plan.plan_id

    def execute(self, name: str, argv: Sequence[str], *, wait: float = WAIT) -> ToolCall:
        """Run a command in the sandbox as a call of the tool."""
        return self._service.execute(self._plan, name, argv, wait=wait)

    def call(self, name: str, *, wait: float = WAIT) -> AbstractContextManager[ToolCall]:
        """A block of Python code as a call of the tool; an exception is a failure."""
        return self._service.call(self._plan, name, wait=wait)

    def tool(self, name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Make each call of a function, or of a coroutine, a call of the tool."""
        return self._service.tool(self._plan, name)
