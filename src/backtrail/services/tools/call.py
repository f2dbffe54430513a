"""One call of a tool from its first checkpoint to its last, and its entry in the log.

A call takes no position of the plan's: it stands where whatever comes next will stand, before it
and after all that is there. So calls that change nothing leave the latest checkpoint the latest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backtrail.domain.checkpoint import CheckpointRequest, CheckpointType
from backtrail.domain.operation import OperationKind
from backtrail.domain.tools import ToolCall, marks_of
from backtrail.git.compare.states import changes_between
from backtrail.services.session.enter import writing
from backtrail.services.session.journal import Entry, log_done
from backtrail.services.snapshot.reuse import automatic_checkpoint

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import CheckpointId, PlanId
    from backtrail.domain.tools import ToolDeclaration
    from backtrail.git.checkpoint.state import Glimpse
    from backtrail.services.session.context import Workspace


_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Calling:
    """A tool that is about to be called."""

    ws: Workspace
    plan_id: PlanId
    name: str
    words: str
    wait: float

    @property
    def declared(self) -> ToolDeclaration | None:
        return self.ws.settings.tools.get(self.name)

    def begin(self) -> tuple[ToolCall, Glimpse | None]:
        """The checkpoint before it, and then the entry: the call is on the timeline."""
        marks = marks_of(self.declared, self.ws.settings.triggers.enabled)
        reused: list[CheckpointId] = []
        before = self._record(CheckpointType.PRE_TOOL, reused) if marks.before else None
        self.ws.failpoints.reach("tool.protected")
        glimpse = self._glimpse() if self.declared and not self.declared.writes else None
        with self.ws.database.write() as uow:
            plan = uow.plans.lock(self.plan_id)
            entry = Entry(OperationKind.TOOL, reason=f"{self.name}: {self.words}")
            outcome = {
                "tool": self.name,
                "position": plan.position + 1,
                "checkpoints": _made(reused, before),
            }
            logged = log_done(self.ws, uow, plan, entry, outcome=outcome)
        self.ws.failpoints.reach("tool.begun")
        return ToolCall(self.name, self.declared, logged.operation_id, before, reused=reused), (
            glimpse
        )

    def finish(self, call: ToolCall, glimpse: Glimpse | None) -> None:
        """How it ended, what it should not have done, and the checkpoint after it."""
        self._log(call)
        self.ws.failpoints.reach("tool.ended")
        if glimpse is not None:
            call.unexpected_changes = changes_between(self.ws.store, glimpse, self._glimpse())
        marks = marks_of(self.declared, self.ws.settings.triggers.enabled)
        if call.failed and marks.on_error:
            call.post_checkpoint = self._record(CheckpointType.ON_ERROR, call.reused)
        elif marks.after:
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
        shown = self.words if len(self.words) <= _SHOWN else f"{self.words[:_SHOWN]}…"
        request = CheckpointRequest(
            reason=f"{when} tool {self.name}: {shown}",
            checkpoint_type=kind,
            source_tool=self.name,
        )
        with writing(self.ws, self.plan_id, wait=self.wait) as locked:
            found = automatic_checkpoint(locked, request)
        if found.reused:
            reused.append(found.checkpoint.checkpoint_id)
        return found.checkpoint

    def _glimpse(self) -> Glimpse:
        return self.ws.camera(self.ws.located(self.ws.plan(self.plan_id))).peek()


def _made(reused: list[CheckpointId], *marks: Checkpoint | None) -> list[CheckpointId]:
    """Those that the call itself has made."""
    return [c.checkpoint_id for c in marks if c and c.checkpoint_id not in reused]
