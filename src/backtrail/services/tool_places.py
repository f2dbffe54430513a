"""Where the calls of tools stand on a plan's timeline, read from the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.operation import OperationKind

if TYPE_CHECKING:
    from backtrail.domain.ids import CheckpointId, PlanId
    from backtrail.storage.database import UnitOfWork


def tool_places(uow: UnitOfWork, plan: PlanId) -> list[tuple[int, int]]:
    """Epoch and position of every call."""
    calls = uow.operations.of_kinds(plan, [OperationKind.TOOL])
    return [(call.epoch_before, int(call.result["position"])) for call in calls]


def marks_of_calls(uow: UnitOfWork, plan: PlanId) -> frozenset[CheckpointId]:
    """Checkpoints that a call in the log has made."""
    calls = uow.operations.of_kinds(plan, [OperationKind.TOOL])
    return frozenset(mark for call in calls for mark in call.result["checkpoints"])
