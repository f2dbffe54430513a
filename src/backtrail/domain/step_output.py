"""Whose recorded output goes when a plan keeps too much of it: a pure rule, oldest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from backtrail.domain.ids import StepId
    from backtrail.domain.lineage import Lineage
    from backtrail.domain.step import Mark


def kept_bytes(marks: Iterable[Mark]) -> int:
    """What the output of all these completions takes on disk."""
    return sum(m.result.output_bytes for m in marks if m.keeps_output and m.result)


def outputs_to_drop(
    marks: Iterable[Mark],
    *,
    limit: int,
    lineage: Lineage,
    covered_until: int,
    in_flight: Collection[StepId],
) -> list[Mark]:
    """Completions whose output is to go, so that no more than `limit` bytes are kept.

    Only what a complete checkpoint covers may go: of the timeline that is what completed before
    the newest one, at `covered_until`; what a rollback took off the timeline is covered by the
    safety checkpoint of that rollback.
    """
    kept = sorted((m for m in marks if m.keeps_output), key=lambda mark: mark.position)
    surplus = kept_bytes(kept) - limit
    going: list[Mark] = []
    for mark in kept:
        if surplus <= 0:
            break
        uncovered = mark.position > covered_until and lineage.contains(mark.epoch, mark.position)
        if uncovered or mark.step_id in in_flight or mark.result is None:
            continue
        going.append(mark)
        surplus -= mark.result.output_bytes
    return going
