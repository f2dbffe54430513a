"""A correction drawn for a terminal: what was corrected, what left with it, what to do again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.look import facts, line, panel, shortened, text
from backtrail.cli.render.text import ago, count
from backtrail.domain.correction import CorrectionMode, Relation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.panel import Panel

    from backtrail.domain.correction import CorrectionResult


_STYLES = {
    Relation.CORRECTED: "bold red",
    Relation.DESCENDANT: "red",
    Relation.LATER: "yellow",
    Relation.EARLIER: "magenta",
}


def correction_panels(result: CorrectionResult, *, verbose: bool) -> Iterator[RenderableType]:
    yield _summary(result)
    if result.affected:
        yield _affected(result, verbose=verbose)
    if result.recompute:
        yield _recompute(result, verbose=verbose)
    if result.history:
        yield _history(result, verbose=verbose)


def _summary(result: CorrectionResult) -> Panel:
    wrong, instead = result.decision.decision, result.corrective
    reverts = result.mode is CorrectionMode.REVERT
    rows: list[tuple[str, RenderableType]] = [
        ("Decision", line((f"{wrong.number} ", "bold cyan"), (wrong.text, "strike" * reverts))),
        ("Guidance", text(result.guidance)),
    ]
    if instead is not None:
        where = "in its place" if reverts else "below it"
        rows.insert(1, ("Now", line((instead.decision.number, "bold cyan"), (f" {where}", ""))))
    if result.nearest and result.rollback is not None:
        said = f"{result.rollback.target.seq}, since its own is gone"
        rows.append(("Nearest checkpoint", text(said, "yellow")))
    title = f"Correction of decision {wrong.number} ({result.mode})"
    if result.dry_run:
        return panel(f"{title}, dry run", facts(rows), "yellow")
    return panel(title, facts(rows), "green")


def _affected(result: CorrectionResult, *, verbose: bool) -> Panel:
    lines = [
        line(
            (f"{entry.decision.number:<5}", "bold cyan"),
            (f"{entry.relation:<12}", _STYLES[entry.relation]),
            (entry.decision.text, ""),
        )
        for entry in result.affected
    ]
    what = count(len(lines), "decision")
    title = f"Left the timeline: {what}" if result.rollback else f"It is about: {what}"
    return panel(title, shortened(lines, len(lines), verbose=verbose))


def _recompute(result: CorrectionResult, *, verbose: bool) -> Panel:
    lines = [
        line((f"{item.kind.replace('_', ' '):<12}", "dim"), (item.reference, "bold cyan"))
        + line((f"  {item.text}", ""))
        for item in result.recompute
    ]
    return panel(
        "To be decided and run again, in this order", shortened(lines, len(lines), verbose=verbose)
    )


def _history(result: CorrectionResult, *, verbose: bool) -> Panel:
    lines = [
        line(
            (f"{past.decision.number} → {past.corrective.number}  ", "bold cyan"),
            (f"{past.correction.mode}, {ago(past.correction.created_at)}  ", "dim"),
            (past.correction.guidance, ""),
        )
        for past in result.history
    ]
    return panel("Corrections of this place so far", shortened(lines, len(lines), verbose=verbose))
