"""Steps of Python code: a function whose result is recorded, and not called again once it is.

A step is its key and the number of the call with that key within the run. Arguments and results
are recorded as JSON, so that a result is the same whether it was computed or comes from the record.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from backtrail.domain.errors import (
    FailedError,
    LeaseLostError,
    RunAbortedError,
    StorageError,
    UsageError,
)
from backtrail.domain.ledger import StepVerdict
from backtrail.domain.redaction import redacted
from backtrail.domain.step import (
    Outcome,
    Result,
    StepName,
    UnrecordableError,
    call_digests,
    check_key,
    from_json,
    to_json,
)
from backtrail.services.steps.digest_key import digest_key
from backtrail.services.steps.records import StepRequest, end_not_known, recording_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backtrail.domain.ids import PlanId, RunId
    from backtrail.domain.step import Mark
    from backtrail.services.session.context import Workspace
    from backtrail.services.steps.records import Judgement


class HowToCall(TypedDict, total=False):
    """What may be said about a step besides its function."""

    reuse_failed: bool
    """Whether an exception that was recorded is raised again, instead of another try."""
    reconcile: Callable[[], Any] | None
    """Finds out what the function had done if its end is not known."""


class StepCalls:
    """The steps of one run of Python code."""

    def __init__(self, ws: Workspace, plan_id: PlanId, run_id: RunId) -> None:
        self._ws, self._plan_id, self._run_id = ws, plan_id, run_id
        self._calls: Counter[str] = Counter()

    def call(
        self,
        key: str,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        **how: Unpack[HowToCall],
    ) -> Any:  # noqa: ANN401 - whatever the function returns
        """What the function returns for these arguments, now or when it was called before."""
        request = self._request(key, function, arguments)
        request = replace(request, reuse_failed=how.get("reuse_failed", False))
        reconcile = how.get("reconcile")
        with recording_steps(self._ws, self._plan_id) as steps:
            judgement = steps.begin(request, self._run_id)
        start = judgement.start
        if start is None:
            return _recorded(key, judgement)
        self._ws.failpoints.reach("step.started")
        if judgement.verdict is StepVerdict.INTERRUPTED:
            self._ws.notices.append(end_not_known(key, reconciled=reconcile is not None))
            if reconcile is not None:
                return self._perform(key, start, reconcile, ())
        if judgement.verdict is StepVerdict.CHANGED:
            self._ws.notices.append(
                f"step {key!r} was recorded with other arguments: it and all steps after it are "
                "dropped, and it runs anew"
            )
        return self._perform(key, start, function, arguments)

    def _request(
        self, key: str, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> StepRequest:
        check_key(key)
        try:
            written = to_json(list(arguments))
        except UnrecordableError as error:
            raise UsageError(
                f"the arguments of step {key!r} cannot be recorded: {error}",
                hint="pass what JSON can hold: text, numbers, lists, mappings with text as keys",
            ) from error
        self._calls[key] += 1
        return StepRequest(
            name=StepName(key, self._calls[key]),
            digests=call_digests(digest_key(self._ws.layout), written),
            command=(_name(function),),
        )

    def _perform(
        self, key: str, start: Mark, function: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:  # noqa: ANN401 - as above
        try:
            value = function(*arguments)
        except (RunAbortedError, LeaseLostError):
            # The run ends here, and not the step: what it did is not known.
            raise
        except Exception as error:
            said = {"type": _name(type(error)), "message": redacted(str(error))}
            self._complete(key, start, Result(Outcome.FAILED, value={"exception": said}))
            raise
        try:
            written = to_json(value)
        except UnrecordableError as error:
            raise FailedError(
                f"the result of step {key!r} cannot be recorded: {error}",
                hint="the step is not completed; let it return what JSON can hold",
            ) from error
        self._ws.failpoints.reach("step.ended")
        recorded = from_json(written)
        self._complete(key, start, Result(Outcome.SUCCEEDED, value={"value": recorded}))
        return from_json(written)

    def _complete(self, key: str, start: Mark, result: Result) -> None:
        with recording_steps(self._ws, self._plan_id) as steps:
            steps.complete(key, start, result)
        self._ws.failpoints.reach("step.completed")


def _recorded(key: str, judgement: Judgement) -> Any:  # noqa: ANN401 - as above
    result = judgement.held.result
    value: Mapping[str, Any] = result.value if result else {}
    if "value" in value:
        return value["value"]
    if "exception" in value:
        said = value["exception"]
        raise FailedError(
            f"step {key!r} failed before: {said['type']}: {said['message']}",
            hint="without reuse_failed it is called again",
            details={"exception": said},
        )
    raise StorageError(f"the recorded result of step {key!r} is damaged")


def _name(what: object) -> str:
    module, name = getattr(what, "__module__", None), getattr(what, "__qualname__", None)
    return f"{module}.{name}" if module and name else type(what).__qualname__
