"""The tree of decisions in characters that everything knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.cli.output.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backtrail.domain.decision import StandingDecision
    from backtrail.domain.decision_tree import Twig


@dataclass(frozen=True, slots=True)
class Branches:
    """The characters to draw with, all of the same width."""

    fork: str
    last: str
    line: str

    def before(self, twig: Twig) -> str:
        """What stands before a decision."""
        return self._above(twig) + (self.last if twig.lasts[-1] else self.fork)

    def beside(self, twig: Twig) -> str:
        """What stands before further lines of the same decision."""
        return self._above(twig) + self._passing(last=twig.lasts[-1])

    def _above(self, twig: Twig) -> str:
        return "".join(self._passing(last=last) for last in twig.lasts[:-1])

    def _passing(self, *, last: bool) -> str:
        return " " * len(self.line) if last else self.line


BOXES = Branches("├─ ", "└─ ", "│  ")
ASCII = Branches("|- ", "`- ", "|  ")


def remarks_of(entry: StandingDecision) -> Iterator[str]:
    """What has to be known of a decision besides its text."""
    if entry.current:
        yield "current"
    if not entry.live:
        yield entry.state
    elif entry.checkpoint is None:
        yield "no checkpoint"
    elif not entry.checkpoint.restorable:
        yield f"checkpoint {entry.checkpoint.state}"


def decision_tree_lines(tree: Iterable[Twig]) -> Iterator[str]:
    """One line for each decision."""
    for twig in tree:
        decision = twig.entry.decision
        remarks = "".join(f" [{remark}]" for remark in remarks_of(twig.entry))
        yield f"{ASCII.before(twig)}{decision.number} {safe(decision.text)}{remarks}"
