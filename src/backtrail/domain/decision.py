"""Decisions: recorded choices of a plan, in a tree, each with a place on the timeline.

A decision is live iff it has a place and the current lineage holds it. The current decision is
the newest live one; what happens while it is current carries its id. A decision's own checkpoint
is the one that carries its id and stands before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from backtrail.domain.errors import UsageError
from backtrail.domain.redaction import redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import DecisionId, PlanId
    from backtrail.domain.plan import Plan


CURRENT = "current"
MAX_TEXT_LENGTH = 10_000
_NUMBER = re.compile(r"[Dd]?([0-9]{1,9})")


class DecisionState(StrEnum):
    """`unfinished`: it was never placed, because what recorded it did not come to its end."""

    LIVE = "live"
    SUPERSEDED = "superseded"
    UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """What a caller says about a choice."""

    text: str
    parent: str | None = None
    """A reference to the decision that it follows from."""
    rationale: str = ""
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """One row of `decisions` as the rest of the program sees it."""

    decision_id: DecisionId
    plan_id: PlanId
    seq: int
    parent_decision_id: DecisionId | None
    position: int | None
    epoch: int | None
    text: str
    rationale: str
    alternatives: tuple[str, ...]
    created_at: datetime

    @property
    def number(self) -> str:
        """What people type; no id begins so, since ids begin with a digit."""
        return f"D{self.seq}"

    @property
    def place(self) -> tuple[int, int] | None:
        """Epoch and position, once it has them."""
        if self.epoch is None or self.position is None:
            return None
        return self.epoch, self.position


@dataclass(frozen=True, slots=True)
class StandingDecision:
    """A decision, how it stands, and the checkpoint that was taken before it."""

    decision: Decision
    state: DecisionState
    current: bool
    parent: Decision | None
    """The one that it follows from."""
    checkpoint: Checkpoint | None

    @property
    def live(self) -> bool:
        return self.state is DecisionState.LIVE

    @property
    def revertible(self) -> bool:
        """Whether its own checkpoint can still be gone back to."""
        return self.live and self.checkpoint is not None and self.checkpoint.restorable


@dataclass(frozen=True, slots=True)
class MadeUnderDecision:
    """What carries a decision's id because it was made while that was the current one."""

    checkpoints: tuple[int, ...] = ()
    """Their numbers, without the one that was taken before the decision."""
    runs: tuple[int, ...] = ()
    steps: tuple[str, ...] = ()
    """Their keys."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions of a plan, oldest first."""

    plan: Plan
    entries: tuple[StandingDecision, ...]
    left_out: int = 0
    """How many are not on the timeline and were not asked for."""


def number_in(text: str) -> int | None:
    """The number that a text such as `D3` or `3` is."""
    match = _NUMBER.fullmatch(text)
    return int(match[1]) if match else None


def check_text(text: str, what: str) -> str:
    """The text without blanks around it and without secrets.

    A usage error if nothing is left or it is endless.
    """
    text = text.strip()
    if not text:
        raise UsageError(f"{what} is empty", hint="say it in a few words")
    if len(text) > MAX_TEXT_LENGTH:
        raise UsageError(
            f"{what} is longer than {MAX_TEXT_LENGTH} characters",
            hint="keep it short, and put the rest into a file of the sandbox",
        )
    return redacted(text)


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
