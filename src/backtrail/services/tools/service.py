"""ToolService: calls of tools, with the checkpoints that are declared for them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from backtrail.domain.errors import RefusedError, UsageError
from backtrail.domain.redaction import redacted_words
from backtrail.domain.tools import ToolCall, check_tool_name
from backtrail.processes.family import RUN_VARIABLE
from backtrail.processes.identity import identity_of
from backtrail.processes.launch import Command
from backtrail.services.lease import Health, health
from backtrail.services.runs.service import directory_in_sandbox
from backtrail.services.runs.supervise import Execution, supervise
from backtrail.services.session.context import DEFAULT_WAIT
from backtrail.services.session.guards import check_plan_allows_work
from backtrail.services.tools.call import Calling

if TYPE_CHECKING:
    from backtrail.domain.ids import PlanId
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
        plan: PlanId,
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
        directory = directory_in_sandbox(ws, plan, cwd)
        ours = {"PLAN_ID": plan, "PLAN_SANDBOX": str(ws.plan(plan).sandbox.path)}
        environment = {**around.environ, **ours}
        command = Command(tuple(argv), directory, environment, around.streams)
        with self.call(plan, name, words=shlex.join(redacted_words(argv)), wait=wait) as call:
            around.before_start()
            call.exit_code = supervise(command, call, ws.notices, adopt=around.adopt)
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
        self._check_nobody_else_runs(plan)
        calling = Calling(self._workspace, plan, name, words, wait)
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

    def _check_nobody_else_runs(self, plan: PlanId) -> None:
        ws = self._workspace
        with ws.database.read() as uow:
            check_plan_allows_work(uow.plans.get(plan))
            live = uow.runs.live(plan)
        if live is None or live.run_id == self._environ.get(RUN_VARIABLE):
            return
        # A block of Python code that is a run is held by the very process that calls.
        if live.holder != identity_of(os.getpid()) and health(ws, live) is Health.ALIVE:
            raise RefusedError(
                f"run {live.number} of this plan is active, and this call is no part of it",
                hint="wait for it, end it with plan abort, or call the tool inside of it",
            )
