"""The tree of decisions drawn for a terminal: long texts go on below, details at the right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from backtrail.cli.render.look import line, text
from backtrail.cli.render.text import ago
from backtrail.cli.views.decisions import ASCII, BOXES, remarks_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

    from backtrail.cli.views.decisions import Branches
    from backtrail.domain.decision import StandingDecision, Twig


DETAILS_FROM = 100
_NARROWEST = 20
_REMARKS = {"current": "bold green", "superseded": "dim", "unfinished": "dim"}


@dataclass(frozen=True, slots=True)
class DecisionTree:
    """Learns only when it is printed how wide it may be, and draws itself then."""

    title: str
    tree: Sequence[Twig]
    verbose: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        branches = ASCII if options.ascii_only else BOXES
        roomy = options.max_width >= DETAILS_FROM
        details = [self._details(twig.entry) if roomy else "" for twig in self.tree]
        margin = max(map(len, details)) + 2 if roomy else 0
        yield text(self.title, "bold")
        for twig, detail in zip(self.tree, details, strict=True):
            yield from _drawn(console, branches, twig, detail, options.max_width, margin)

    def _details(self, entry: StandingDecision) -> str:
        checkpoint = f"checkpoint {entry.checkpoint.seq}  " if entry.checkpoint else ""
        identity = f"  {entry.decision.decision_id}" if self.verbose else ""
        return f"{checkpoint}{ago(entry.decision.created_at)}{identity}"


def _drawn(
    console: Console, branches: Branches, twig: Twig, detail: str, width: int, margin: int
) -> Iterator[Text]:
    number = twig.entry.decision.number
    indent = " " * (len(number) + 1)
    first = line((branches.before(twig), "dim"), (f"{number} ", _number_style(twig.entry)))
    room = max(width - first.cell_len - margin, _NARROWEST)
    said = _words(twig.entry).wrap(console, room)
    for at, words in enumerate(said):
        head = first if at == 0 else line((branches.beside(twig) + indent, "dim"))
        drawn = head.append_text(words)
        drawn.rstrip()
        if at == 0 and detail:
            drawn.pad_right(max(width - len(detail) - drawn.cell_len, 1))
            drawn.append(detail, "dim")
        yield drawn


def _words(entry: StandingDecision) -> Text:
    words = line((entry.decision.text, "" if entry.live else "dim strike"))
    for remark in remarks_of(entry):
        words.append("  ").append(remark, _REMARKS.get(remark, "yellow"))
    return words


def _number_style(entry: StandingDecision) -> str:
    return "bold cyan" if entry.live else "cyan dim"
