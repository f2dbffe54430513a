"""The timeline drawn for a terminal: two lines for each checkpoint, or one where there is room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from backtrail.cli.render.graph import ASCII, BOXES, graph_width, link_line, node_line, tail_line
from backtrail.cli.render.look import line
from backtrail.cli.render.text import ago
from backtrail.cli.views.timeline import files_changed, marks_of, plain_node, subject_of
from backtrail.domain.checkpoint import CheckpointType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderResult

    from backtrail.cli.render.graph import GraphRow, Pen
    from backtrail.domain.history import History, HistoryEntry


ONE_LINE_FROM = 120
_WIDTH_PER_COLUMN = 10
_GAP = "  "
_BETWEEN = {BOXES: " · ", ASCII: ", "}
_NODES = {"@": "◆", "*": "●", "o": "○", "x": "✗"}
_NODE_STYLES = {"@": "bold green", "*": "green", "o": "dim", "x": "red"}
_MARK_STYLES = {"latest": "bold green", "green": "green", "pinned": "yellow", "damaged": "bold red"}

Parts = list[tuple[object, str]]


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
