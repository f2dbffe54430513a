"""Decisions, alone, in a list and as a tree; long texts of a drawn tree go on below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.cli.render.look import facts, line, panel, table, text
from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.shape import COUNT, INTEGER, TEXT, itself, listed, shape
from backtrail.cli.render.text import ago, columns, count, named, plain, safe
from backtrail.cli.views.fields import DECISION, OF_A_PLAN
from backtrail.domain.decision import twigs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.text import Text

    from backtrail.domain.decision import Decisions, MadeUnderDecision, StandingDecision, Twig
    from backtrail.domain.plan import Plan


RECORDED = shape(decision=DECISION.at(itself))
SHOWN = shape(
    decision=DECISION,
    made=shape(checkpoints=listed(INTEGER), runs=listed(INTEGER), steps=listed(TEXT)),
)
DECISIONS = shape(**OF_A_PLAN, decisions=listed(DECISION).at("entries"), left_out=COUNT)
TREE = shape(
    **OF_A_PLAN,
    decisions=listed(shape(**DECISION.within("entry", nullable=False), depth=COUNT)).at(
        lambda decisions: twigs(decisions.entries)
    ),
    left_out=COUNT,
)
DETAILS_FROM = 100
"""The width of a terminal from which on there is room for details."""
_NARROWEST = 20
_REMARKS = {"current": "bold green", "superseded": "dim", "unfinished": "dim"}


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


def added_report(plan: Plan, entry: StandingDecision) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        yield line(
            ("✓ ", "green"),
            ("Decision ", ""),
            (entry.decision.number, "bold cyan"),
            (f" of plan {plan.name} is recorded", ""),
            (f", after checkpoint {entry.checkpoint.seq}" if entry.checkpoint else "", "dim"),
        )
        if verbose:
            yield from _shown(entry)

    return Report(
        data=RECORDED.of(entry),
        plain=lambda: _lines(entry),
        rich=rich,
        values=_values(entry),
        silenced_by_quiet=True,
    )


def decision_report(entry: StandingDecision, made: MadeUnderDecision) -> Report:
    return Report(
        data=SHOWN.of({"decision": entry, "made": made}),
        plain=lambda: _lines(entry, made),
        rich=lambda _verbose: _shown(entry, made),
        values=_values(entry),
    )


def decisions_report(decisions: Decisions) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        if decisions.entries:
            names = ["decision", "follows", "what", "checkpoint", "when", ""]
            rows = map(_cells, decisions.entries)
            names += ["id"] if verbose else []
            yield table(names, (row[: len(names)] for row in rows))
        yield from _note(decisions)

    return Report(
        data=DECISIONS.of(decisions),
        plain=lambda: map(_row, decisions.entries),
        rich=rich,
    )


def tree_report(decisions: Decisions) -> Report:
    tree = twigs(decisions.entries)

    def rich(verbose: bool) -> Iterator[RenderableType]:
        if tree:
            yield DecisionTree(f"Decisions of plan {decisions.plan.name}", tree, verbose)
        yield from _note(decisions)

    return Report(
        data=TREE.of(decisions),
        plain=lambda: decision_tree_lines(tree),
        rich=rich,
    )


def _note(decisions: Decisions) -> Iterator[RenderableType]:
    if not decisions.entries:
        name = decisions.plan.name
        hint = f"plan decision add {name} TEXT records one"
        yield text(f"Plan {name} has no decisions that hold; {hint}.", "dim")
    if decisions.left_out:
        yield text(f"{count(decisions.left_out, 'other')} not shown (--all shows them).", "dim")


def _row(entry: StandingDecision) -> str:
    """Number, state, what it follows from, its checkpoint, text."""
    decision = entry.decision
    state = "current" if entry.current else entry.state
    checkpoint = entry.checkpoint and entry.checkpoint.seq
    return columns(decision.number, state, _follows(entry), checkpoint, decision.text)


def _follows(entry: StandingDecision) -> str:
    return entry.parent.number if entry.parent else "-"


def _cells(entry: StandingDecision) -> list[RenderableType]:
    decision, faded = entry.decision, "" if entry.live else "dim"
    return [
        text(decision.number, f"bold cyan {faded}"),
        text(_follows(entry), "dim"),
        text(decision.text, faded),
        text(entry.checkpoint.seq if entry.checkpoint else "-", faded),
        text(ago(decision.created_at), "dim"),
        text(", ".join(remarks_of(entry)), "bold green" if entry.current else "dim"),
        text(decision.decision_id, "dim"),
    ]


def _values(entry: StandingDecision) -> dict[Value, str | None]:
    checkpoint = entry.checkpoint
    return {
        Value.ID: entry.decision.decision_id,
        Value.COMMIT: checkpoint.sandbox_ref if checkpoint else None,
        Value.PATH: checkpoint.filesystem_path if checkpoint else None,
    }


def _facts(entry: StandingDecision) -> Iterator[tuple[str, str]]:
    decision, checkpoint = entry.decision, entry.checkpoint
    yield "decision", decision.number
    yield "decision_id", decision.decision_id
    yield "state", "current" if entry.current else entry.state
    yield "follows", _follows(entry)
    yield "text", decision.text
    yield "rationale", decision.rationale or "-"
    yield from (("alternative", alternative) for alternative in decision.alternatives)
    yield "checkpoint", f"{checkpoint.seq} {checkpoint.state}" if checkpoint else "-"
    yield "created", plain(decision.created_at)


def _made_facts(made: MadeUnderDecision | None) -> Iterator[tuple[str, str]]:
    if made is not None:
        yield "made_checkpoints", ", ".join(map(str, made.checkpoints)) or "-"
        yield "made_runs", ", ".join(map(str, made.runs)) or "-"
        yield "made_steps", ", ".join(made.steps) or "-"


def _lines(entry: StandingDecision, made: MadeUnderDecision | None = None) -> Iterator[str]:
    return named((*_facts(entry), *_made_facts(made)))


def _shown(
    entry: StandingDecision, made: MadeUnderDecision | None = None
) -> Iterator[RenderableType]:
    told = (*_facts(entry), *_made_facts(made))
    rows = [(name.replace("_", " ").capitalize(), text(value)) for name, value in told]
    style = "cyan" if entry.live else "yellow"
    yield panel(f"Decision {entry.decision.number}", facts(rows), style)


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
