"""Decisions as a tree: what follows from what, in the order in which it was decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from backtrail.domain.decision import Decision, StandingDecision
    from backtrail.domain.ids import DecisionId

_Children = dict["DecisionId | None", list["StandingDecision"]]


@dataclass(frozen=True, slots=True)
class Twig:
    """A decision in its place; `lasts` tells of it and those above it whether each is the last."""

    entry: StandingDecision
    lasts: tuple[bool, ...]

    @property
    def depth(self) -> int:
        return len(self.lasts) - 1


def twigs(entries: Sequence[StandingDecision]) -> tuple[Twig, ...]:
    """The tree from top to bottom; what follows from none that is shown is at its top."""
    shown = {entry.decision.decision_id for entry in entries}
    children: _Children = {}
    for entry in sorted(entries, key=_order):
        parent = entry.decision.parent_decision_id
        children.setdefault(parent if parent in shown else None, []).append(entry)
    return tuple(_below(None, children, ()))


def subtree(root: DecisionId, decisions: Iterable[Decision]) -> frozenset[DecisionId]:
    """Ids of a decision and of all that follows from it."""
    parents = {d.decision_id: d.parent_decision_id for d in decisions}
    return frozenset(i for i in parents if root in upwards(i, parents))


def upwards(
    decision: DecisionId | None, parents: Mapping[DecisionId, DecisionId | None]
) -> Iterator[DecisionId]:
    """The decision itself, the one that it follows from, and so on."""
    while decision is not None:
        yield decision
        decision = parents.get(decision)


def _order(entry: StandingDecision) -> tuple[float, int]:
    position = entry.decision.position
    return float("inf") if position is None else position, entry.decision.seq


def _below(
    parent: DecisionId | None, children: _Children, lasts: tuple[bool, ...]
) -> Iterator[Twig]:
    found = children.get(parent, [])
    for entry in found:
        here = (*lasts, entry is found[-1])
        yield Twig(entry, here)
        yield from _below(entry.decision.decision_id, children, here)
