"""What differs between two states of a sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.look import panel, shortened, text
from backtrail.cli.render.report import Report
from backtrail.cli.render.shape import ID, TEXT, listed, shape
from backtrail.cli.render.text import count, safe_lines
from backtrail.cli.views.fields import FILE_CHANGE
from backtrail.cli.views.plans import change_lines, change_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from backtrail.domain.rollback import DiffResult


DIFF = shape(
    plan=TEXT.at("plan.name"),
    **{
        "from": ID.at("from_checkpoint.checkpoint_id"),
        "to": (ID | None).at("to_checkpoint.checkpoint_id"),
    },
    files=listed(FILE_CHANGE),
    patch=TEXT.if_any(),
)
_PATCH_STYLES = (
    ("diff ", "bold"),
    ("index ", "dim"),
    ("+++", "bold"),
    ("---", "bold"),
    ("@@", "cyan"),
    ("+", "green"),
    ("-", "red"),
)


def diff_report(result: DiffResult) -> Report:
    return Report(
        data=DIFF.of(result),
        plain=lambda: change_lines(result.files),
        rich=lambda verbose: _rich(result, verbose=verbose),
        raw=result.patch,
    )


def _rich(result: DiffResult, *, verbose: bool) -> Iterator[RenderableType]:
    to = f"checkpoint {result.to_checkpoint.seq}" if result.to_checkpoint else "the sandbox now"
    span = f"checkpoint {result.from_checkpoint.seq} → {to}"
    if not result.files:
        yield text(f"No difference: {span}.", "green")
        return
    title = f"{count(len(result.files), 'file')} changed, {span}"
    if result.patch is None:
        yield panel(
            title, shortened(change_texts(result.files), len(result.files), verbose=verbose)
        )
    else:
        yield text(title, "bold")
        yield from (
            _patch_line(line) for line in safe_lines(result.patch).removesuffix("\n").split("\n")
        )


def _patch_line(line: str) -> RenderableType:
    from rich.text import Text

    style = next((style for start, style in _PATCH_STYLES if line.startswith(start)), "")
    return Text(line, style=style, overflow="fold")
