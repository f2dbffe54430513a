"""The timeline of `plan log` and its branches, as data and drawn.

On a terminal a checkpoint takes two lines, or one where there is room.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.cli.render.graph import ASCII, BOXES, graph_width, link_line, node_line, tail_line
from backtrail.cli.render.look import line, text
from backtrail.cli.render.report import Report
from backtrail.cli.render.shape import COUNT, FLAG, ID, ORDINAL, TEXT, listed, shape, words
from backtrail.cli.render.text import ago, count, plain, safe
from backtrail.cli.views.fields import CHECKPOINT, OF_A_PLAN
from backtrail.domain.checkpoint import CheckpointState, CheckpointType
from backtrail.domain.operation import GOING_BACK, RESTORING_KINDS
from backtrail.domain.wording import of_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.text import Text

    from backtrail.cli.render.graph import Pen
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.graph import GraphRow
    from backtrail.domain.history import History, HistoryEntry


def _placed(history: History) -> list[dict[str, object]]:
    """Each entry beside its place in the graph."""
    placed = zip(history.entries, history.graph(), strict=True)
    return [{"entry": entry, "row": row} for entry, row in placed]


TIMELINE = shape(
    **OF_A_PLAN,
    current_epoch=ORDINAL.at("plan.current_epoch"),
    entries=listed(
        shape(
            checkpoint=CHECKPOINT.at("entry.checkpoint"),
            column=COUNT.at("row.column"),
            follows_seq=(ORDINAL | None).at("entry.follows.seq"),
            latest=FLAG.at("entry.latest"),
            files_changed=(COUNT | None).at("entry.files_changed"),
            came_from=(
                shape(
                    kind=words(RESTORING_KINDS).at("operation.kind"),
                    operation_id=ID.at("operation.operation_id"),
                    checkpoint_id=ID.at("target.checkpoint_id"),
                    seq=ORDINAL.at("target.seq"),
                    label=(TEXT | None).at("target.label"),
                    paths=listed(TEXT).at("operation.paths"),
                )
                | None
            ).at("entry.came_from"),
        )
    ).at(_placed),
    left_out=shape(superseded=COUNT, tombstones=COUNT, older=COUNT),
)
PLAIN_COLUMNS = 12
"""A pipe has no width, but nobody follows more branches than this side by side."""
ONE_LINE_FROM = 120
"""The width of a terminal from which on one line holds everything."""
_WIDTH_PER_COLUMN = 10
_GAP = "  "
_BETWEEN = {BOXES: " · ", ASCII: ", "}
_NODES = {"@": "◆", "*": "●", "o": "○", "x": "✗"}
_NODE_STYLES = {"@": "bold green", "*": "green", "o": "dim", "x": "red"}
_MARK_STYLES = {"latest": "bold green", "green": "green", "pinned": "yellow", "damaged": "bold red"}

Parts = list[tuple[object, str]]


def log_report(history: History) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        if history.entries:
            yield Timeline(history, verbose=verbose)
        else:
            yield text(f"Plan {history.plan.name} has no checkpoints to show.", "dim")
        note = _left_out(history)
        if note:
            yield text(note, "dim")

    return Report(data=TIMELINE.of(history), plain=lambda: _plain_lines(history), rich=rich)


def subject_of(entry: HistoryEntry) -> str:
    """What a checkpoint is about, in one line."""
    if entry.came_from is None:
        return entry.checkpoint.reason
    operation, target = entry.came_from.operation, entry.came_from.target
    said = f"{operation.kind} to {target.seq}"
    if target.label:
        said += f" [{target.label}]"
    only = of_paths(operation.paths)
    # The reason of an undo or a redo is ours and says nothing that is not said already.
    if operation.kind not in GOING_BACK or operation.reason in {"", only.strip()}:
        return f"{said}{only}"
    return f"{said}: {operation.reason}"


def marks_of(entry: HistoryEntry, row: GraphRow) -> Iterator[str]:
    checkpoint = entry.checkpoint
    if entry.latest:
        yield "latest"
    if checkpoint.state is not CheckpointState.COMPLETE:
        yield checkpoint.state
    if checkpoint.pinned:
        yield "pinned"
    if checkpoint.verified_green:
        yield "green"
    if row.fades and entry.follows and not _names(entry, entry.follows):
        yield f"follows {entry.follows.seq}"


def _names(entry: HistoryEntry, other: Checkpoint) -> bool:
    """Whether the subject tells of the other one anyway."""
    return entry.came_from is not None and entry.came_from.target.seq == other.seq


def files_changed(entry: HistoryEntry) -> str:
    return "" if entry.files_changed is None else count(entry.files_changed, "file")


def plain_node(entry: HistoryEntry) -> str:
    if entry.latest:
        return "@"
    if not entry.checkpoint.restorable:
        return "x"
    return "*" if entry.checkpoint.live else "o"


def _left_out(history: History) -> str:
    """What is not shown, and how to see it."""
    left_out = history.left_out
    parts = (
        (left_out.older, "older"),
        (left_out.superseded, "superseded"),
        (left_out.tombstones, "failed or pruned (--all)"),
    )
    told = [f"{number} {what}" for number, what in parts if number]
    return f"Not shown: {', '.join(told)}" if told else ""


def _plain_lines(history: History) -> Iterator[str]:
    rows = history.graph(max_columns=PLAIN_COLUMNS)
    width = graph_width(rows)
    digits = max((len(str(entry.checkpoint.seq)) for entry in history.entries), default=0)
    for entry, row in zip(history.entries, rows, strict=True):
        drawn = node_line(row, ASCII, plain_node(entry), width)
        yield f"{drawn}  {entry.checkpoint.seq:>{digits}}  {_plain_text(entry, row)}"
        if row.join or row.fades:
            yield link_line(row, ASCII, width).rstrip()
    if history.left_out.older:
        yield tail_line(rows, ASCII, width).rstrip()


def _plain_text(entry: HistoryEntry, row: GraphRow) -> str:
    checkpoint = entry.checkpoint
    marks = ", ".join(marks_of(entry, row))
    parts = (
        f"{plain(checkpoint.created_at)} ",
        f"{checkpoint.checkpoint_type:<12} ",
        f"{files_changed(entry):>8} ",
        f"[{checkpoint.label}]" if checkpoint.label else "",
        f"({marks})" if marks else "",
        subject_of(entry),
    )
    return safe(" ".join(filter(None, parts))).rstrip()


@dataclass(frozen=True, slots=True)
class Timeline:
    """Learns only when it is printed how wide it may be, and draws itself then."""

    history: History
    verbose: bool

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console
        width = options.max_width
        entries = self.history.entries
        rows = self.history.graph(max_columns=width // _WIDTH_PER_COLUMN)
        pen = ASCII if options.ascii_only else BOXES
        canvas = _Canvas(pen, graph_width(rows), width)
        words = _Words.sized_for(entries, verbose=self.verbose, between=_BETWEEN[pen])
        draw = self._in_one_line if width >= ONE_LINE_FROM else self._in_two_lines
        for entry, row in zip(entries, rows, strict=True):
            yield from draw(canvas, words, entry, row)
        if self.history.left_out.older:
            yield canvas.tail(rows)

    @staticmethod
    def _in_one_line(
        canvas: _Canvas, words: _Words, entry: HistoryEntry, row: GraphRow
    ) -> Iterator[Text]:
        said = [words.number(entry), *words.columns(entry), *words.subject(entry, row)]
        yield canvas.node(entry, row, said)
        if row.join or row.fades:
            yield canvas.link(row, [])

    @staticmethod
    def _in_two_lines(
        canvas: _Canvas, words: _Words, entry: HistoryEntry, row: GraphRow
    ) -> Iterator[Text]:
        yield canvas.node(entry, row, [words.number(entry), *words.subject(entry, row)])
        yield canvas.link(row, [words.indent, *words.details(entry)])


@dataclass(frozen=True, slots=True)
class _Canvas:
    """Puts words beside the graph; what does not fit is cut, so that no line is ever broken."""

    pen: Pen
    graph: int
    width: int

    def node(self, entry: HistoryEntry, row: GraphRow, said: Parts) -> Text:
        symbol = plain_node(entry)
        drawn = symbol if self.pen is ASCII else _NODES[symbol]
        place = 2 * row.column
        text = self._line(node_line(row, self.pen, drawn, self.graph), said)
        text.stylize(f"not dim {_NODE_STYLES[symbol]}", place, place + 1)
        return text

    def link(self, row: GraphRow, said: Parts) -> Text:
        return self._line(link_line(row, self.pen, self.graph), said)

    def tail(self, rows: Sequence[GraphRow]) -> Text:
        return self._line(tail_line(rows, self.pen, self.graph), [])

    def _line(self, drawn: str, said: Parts) -> Text:
        # The live line is the first column.
        text = line((drawn[:1], "green"), (drawn[1:], "dim"), (_GAP, ""), *said)
        text.truncate(self.width, overflow="crop" if self.pen is ASCII else "ellipsis")
        text.rstrip()
        return text


@dataclass(frozen=True, slots=True)
class _Words:
    """What is said about an entry; the numbers are how wide each part is in all of them."""

    verbose: bool
    between: str
    seq: int
    when: int
    kind: int
    files: int

    @classmethod
    def sized_for(cls, entries: Sequence[HistoryEntry], *, verbose: bool, between: str) -> _Words:
        return cls(
            verbose,
            between,
            seq=max(len(str(e.checkpoint.seq)) for e in entries),
            when=max(len(ago(e.checkpoint.created_at)) for e in entries),
            kind=max(len(e.checkpoint.checkpoint_type) for e in entries),
            files=max(len(files_changed(e)) for e in entries),
        )

    @property
    def indent(self) -> tuple[str, str]:
        return " " * (self.seq + len(_GAP)), ""

    def number(self, entry: HistoryEntry) -> tuple[str, str]:
        style = "bold cyan" if entry.checkpoint.live else "cyan dim"
        return f"{entry.checkpoint.seq:>{self.seq}}{_GAP}", style

    def columns(self, entry: HistoryEntry) -> Parts:
        checkpoint = entry.checkpoint
        parts = (
            f"{ago(checkpoint.created_at):<{self.when}}",
            f"{checkpoint.checkpoint_type:<{self.kind}}",
            f"{files_changed(entry):>{self.files}}",
            *([checkpoint.checkpoint_id] if self.verbose else []),
        )
        return [(f"{part}{_GAP}", "dim") for part in parts]

    def details(self, entry: HistoryEntry) -> Parts:
        checkpoint = entry.checkpoint
        parts = (
            ago(checkpoint.created_at),
            checkpoint.checkpoint_type,
            files_changed(entry),
            checkpoint.checkpoint_id if self.verbose else "",
        )
        return [(self.between.join(filter(None, parts)), "dim")]

    def subject(self, entry: HistoryEntry, row: GraphRow) -> Parts:
        checkpoint = entry.checkpoint
        automatic = checkpoint.checkpoint_type is CheckpointType.PRE_ROLLBACK
        faded = "dim" if automatic or not checkpoint.live else ""
        parts: Parts = [(f"[{checkpoint.label}] ", f"magenta {faded}")] if checkpoint.label else []
        marks = list(marks_of(entry, row))
        for at, mark in enumerate(marks):
            parts += [(", " if at else "(", "dim"), (mark, _MARK_STYLES.get(mark, "dim"))]
        return [*parts, (") " if marks else "", "dim"), (subject_of(entry), faded)]
