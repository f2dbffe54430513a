"""ToolService: calls of tools, with the checkpoints that are declared for them.

A call takes no position of the plan's: it stands where whatever comes next will stand, before it
and after all that is there. So calls that change nothing leave the latest checkpoint the latest.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.errors import RefusedError, UsageError
from backtrail.domain.operation import OperationKind
from backtrail.domain.redaction import redacted_words
from backtrail.domain.tools import ToolCall, check_tool_name, marks_of
from backtrail.domain.wording import shortened
from backtrail.git.compare.states import changes_between
from backtrail.processes.family import RUN_VARIABLE, named
from backtrail.processes.table import identity_of
from backtrail.services.lease import is_held
from backtrail.services.runs.service import directory_in_sandbox
from backtrail.services.runs.supervise import Execution
from backtrail.services.session.context import DEFAULT_WAIT
from backtrail.services.session.enter import writing
from backtrail.services.session.guards import check_plan_allows_work
from backtrail.services.session.journal import Entry, log_done
from backtrail.services.snapshot.reuse import automatic_checkpoint

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CheckpointId, PlanId
    from backtrail.domain.plan import Plan
    from backtrail.domain.tools import ToolDeclaration, ToolMarks
    from backtrail.git.checkpoint.state import Glimpse
    from backtrail.services.session.context import Workspace


P = ParamSpec("P")
R = TypeVar("R")


class ToolService:
    """Calls of tools in the plans of one repository; a call is no run, and works inside of one."""

    def __init__(self, workspace: Workspace, environ: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._environ = environ

    def execute(
        self,
        plan: PlanId | Plan,
        name: str,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        wait: float = DEFAULT_WAIT,
        execution: Execution | None = None,
    ) -> ToolCall:
        """Run a command in the sandbox as a call of the tool."""
        if not argv:
            raise UsageError(
                "no command is given", hint="put it after --: plan tool pytest -- pytest -q"
            )
        ws, around = self._workspace, execution or Execution(self._environ)
        known = ws.known(plan)
        _, directory = directory_in_sandbox(known.sandbox, cwd)
        ours = {"PLAN_ID": known.plan_id, "PLAN_SANDBOX": str(known.sandbox.path)}
        with self.call(
            known.plan_id, name, words=shlex.join(redacted_words(argv)), wait=wait
        ) as call:
            ended = around.call_tool(tuple(argv), Path(directory), ours, call.operation)
            ws.notices.extend(ended.remarks("tool", argv[0]))
            if ended.processes.left:
                left = named(ended.processes.left)
                ws.notices.append(f"some processes of the tool cannot be ended: {left}")
            call.exit_code = ended.code
        return call

    @contextmanager
    def call(
        self,
        plan: PlanId,
        name: str,
        *,
        words: str = "Python code",
        wait: float = DEFAULT_WAIT,
    ) -> Generator[ToolCall]:
        """A block of Python code as a call of the tool; an exception is a failure, and raised."""
        check_tool_name(name)
        found = self._where_nobody_else_runs(plan)
        calling = _Calling(self._workspace, found, name, words, wait)
        call, glimpse = calling.begin()
        try:
            yield call
        except BaseException:
            call.exit_code = call.exit_code or 1
            calling.finish(call, glimpse)
            raise
        calling.finish(call, glimpse)

    def tool(self, plan: PlanId, name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Make each call of a function, or of a coroutine, a call of the tool."""
        check_tool_name(name)

        def decorate(function: Callable[P, R]) -> Callable[P, R]:
            words = f"{function.__name__}()"
            if isgeneratorfunction(function) or isasyncgenfunction(function):
                # Whoever asks for one value and no more would leave the call without an end.
                raise UsageError(
                    f"{words} is a generator and cannot be tool {name!r}",
                    hint="put what it does into a function, or use the tool as a context manager",
                )

            @wraps(function)
            def called(*args: P.args, **kwargs: P.kwargs) -> R:
                with self.call(plan, name, words=words):
                    return function(*args, **kwargs)

            @wraps(function)
            async def awaited(*args: P.args, **kwargs: P.kwargs) -> object:
                with self.call(plan, name, words=words):
                    running: Awaitable[object] = cast("Any", function(*args, **kwargs))
                    return await running

            return cast("Callable[P, R]", awaited) if iscoroutinefunction(function) else called

        return decorate

    def _where_nobody_else_runs(self, plan_id: PlanId) -> Plan:
        ws = self._workspace
        with ws.database.read() as uow:
            plan, live = uow.plans.get(plan_id), uow.runs.live(plan_id)
        check_plan_allows_work(plan)
        if live is None or live.run_id == self._environ.get(RUN_VARIABLE):
            return plan
        # A block of Python code that is a run is held by the very process that calls.
        if live.holder != identity_of(os.getpid()) and is_held(ws, live):
            raise RefusedError(
                f"run {live.number} of this plan is active, and this call is no part of it",
                hint="wait for it, end it with plan abort, or call the tool inside of it",
            )
        return plan


@dataclass(frozen=True, slots=True)
class _Calling:
    """A tool that is about to be called."""

    ws: Workspace
    plan: Plan
    name: str
    words: str
    wait: float

    @property
    def declared(self) -> ToolDeclaration | None:
        return self.ws.settings.tools.get(self.name)

    @property
    def marks(self) -> ToolMarks:
        return marks_of(self.declared, self.ws.settings.triggers.enabled)

    def begin(self) -> tuple[ToolCall, Glimpse | None]:
        """The checkpoint before it, and then the entry: the call is on the timeline."""
        reused: list[CheckpointId] = []
        before = self._record(CheckpointType.PRE_TOOL, reused) if self.marks.before else None
        self.ws.failpoints.reach("tool.protected")
        glimpse = self._glimpse() if self.declared and not self.declared.writes else None
        with self.ws.database.write() as uow:
            plan = uow.plans.lock(self.plan.plan_id)
            entry = Entry(OperationKind.TOOL, reason=f"{self.name}: {self.words}")
            outcome = {
                "tool": self.name,
                "position": plan.position + 1,
                "checkpoints": _made(reused, before),
            }
            logged = log_done(self.ws, uow, plan, entry, outcome=outcome)
        self.ws.failpoints.reach("tool.begun")
        call = ToolCall(self.name, self.declared, logged.operation_id, before, reused=reused)
        return call, glimpse

    def finish(self, call: ToolCall, glimpse: Glimpse | None) -> None:
        """How it ended, what it should not have done, and the checkpoint after it."""
        self._log(call)
        self.ws.failpoints.reach("tool.ended")
        if glimpse is not None:
            call.unexpected_changes = changes_between(self.ws.store, glimpse, self._glimpse())
        if call.failed and self.marks.on_error:
            call.post_checkpoint = self._record(CheckpointType.ON_ERROR, call.reused)
        elif self.marks.after:
            call.post_checkpoint = self._record(CheckpointType.POST_TOOL, call.reused)
        self.ws.failpoints.reach("tool.saved_after")
        self._log(call)

    def _log(self, call: ToolCall) -> None:
        made = _made(call.reused, call.checkpoint, call.post_checkpoint)
        with self.ws.database.write() as uow:
            logged = uow.operations.get(call.operation)
            known: dict[str, Any] = dict(logged.result) if logged else {}
            uow.operations.update(
                call.operation,
                finished_at=self.ws.now(),
                result={
                    **known,
                    "exit_code": call.exit_code,
                    "checkpoints": made,
                    "unexpected_changes": [change.file for change in call.unexpected_changes],
                },
            )

    def _record(self, kind: CheckpointType, reused: list[CheckpointId]) -> Checkpoint:
        when = {
            CheckpointType.PRE_TOOL: "before",
            CheckpointType.POST_TOOL: "after",
            CheckpointType.ON_ERROR: "after failed",
        }[kind]
        request = CheckpointRequest(
            reason=f"{when} tool {self.name}: {shortened(self.words)}",
            checkpoint_type=kind,
            source_tool=self.name,
        )
        with writing(self.ws, self.plan, wait=self.wait) as locked:
            found = automatic_checkpoint(locked, request)
        if found.reused:
            reused.append(found.checkpoint.checkpoint_id)
        return found.checkpoint

    def _glimpse(self) -> Glimpse:
        return self.ws.camera(self.ws.located(self.ws.plan(self.plan.plan_id))).peek()


def _made(reused: list[CheckpointId], *marks: Checkpoint | None) -> list[CheckpointId]:
    """Those that the call itself has made."""
    return [c.checkpoint_id for c in marks if c and c.checkpoint_id not in reused]
