"""Building blocks of rich output; text goes in as `Text`, so that no markup is read from it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, cast

from backtrail.cli.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text


SHOWN_FILES = 20
_NUMBERS = ("#", "size", "checkpoints", "changed")
ACTION_STYLES = {
    "restored": "green",
    "removed": "red",
    "added": "green",
    "modified": "yellow",
    "deleted": "red",
    "type_changed": "magenta",
    "mode_changed": "cyan",
    "ignored": "dim",
}
STATE_STYLES = {
    "queued": "cyan",
    "processing": "yellow",
    "errored": "bold red",
    "complete": "green",
    "applied": "green",
    "done": "green",
    "current": "green",
    "failed": "bold red",
    "damaged": "bold red",
    "outdated": "yellow",
    "newer": "bold red",
    "running": "yellow",
    "finalizing": "yellow",
    "success": "green",
    "error": "bold red",
    "timeout": "bold red",
    "interrupted": "yellow",
    "rolled_back": "magenta",
}


def console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def text(content: object, style: str = "") -> Text:
    from rich.text import Text

    return Text(safe(content), style=style, overflow="fold")


def line(*parts: tuple[object, str]) -> Text:
    """One line of differently styled parts."""
    from rich.text import Text

    return Text.assemble(*((safe(content), style) for content, style in parts), overflow="fold")


def state(name: str) -> Text:
    return text(name, STATE_STYLES.get(name, ""))


def panel(title: str, body: RenderableType, style: str = "cyan") -> Panel:
    from rich.panel import Panel

    return Panel(
        body, title=text(title, "bold"), title_align="left", border_style=style, padding=(0, 1)
    )


def facts(rows: Iterable[tuple[str, object]]) -> Table:
    """Names on the left, values on the right; a row without a value is left out."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        if value is not None:
            drawn = hasattr(value, "__rich_console__")
            grid.add_row(text(name), cast("RenderableType", value) if drawn else text(value))
    return grid


def table(columns: Sequence[str], rows: Iterable[Sequence[RenderableType]]) -> Table:
    from rich import box
    from rich.table import Table

    result = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for name in columns:
        result.add_column(
            text(name),
            overflow="fold",
            justify="right" if name in _NUMBERS else "left",
        )
    for row in rows:
        result.add_row(*row)
    return result


def shortened(lines: Iterable[Text], total: int, *, verbose: bool) -> Text:
    """Lines joined; a long list is cut, and says so."""
    from rich.text import Text

    shown = list(lines if verbose else islice(lines, SHOWN_FILES))
    if len(shown) < total:
        shown.append(text(f"… and {total - len(shown)} more (-v shows all)", "dim"))
    return Text("\n").join(shown)


def file_line(action: str, file: str, *rest: tuple[object, str]) -> Text:
    return line(
        (f"{action.replace('_', ' '):<13}", ACTION_STYLES.get(action, "")), (file, ""), *rest
    )
