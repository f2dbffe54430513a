"""A correction, and its dry run: what was corrected, what left with it, what to do again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.look import facts, line, panel, shortened, text
from backtrail.cli.render.report import Report, Value
from backtrail.cli.render.shape import (
    COUNT,
    FLAG,
    ID,
    INTEGER,
    MOMENT,
    TEXT,
    itself,
    listed,
    shape,
    words,
)
from backtrail.cli.render.text import ago, columns, count, named
from backtrail.cli.views.fields import DECISION, OF_A_PLAN, ROLLBACK
from backtrail.cli.views.retention import DRY_RUN
from backtrail.cli.views.rollback import rollback_lines, rollback_panels
from backtrail.domain.correction import CorrectionMode, Redo, Relation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import RenderableType
    from rich.panel import Panel

    from backtrail.cli.render.shape import Kind
    from backtrail.domain.correction import CorrectionResult
    from backtrail.domain.rollback import Impact, RevertedFile, RollbackResult


_MODE = words(CorrectionMode, "correction_mode")
_RELATION = words(Relation, "relation")


def _superseded(number: Callable[[Impact], int]) -> Kind:
    """How many of a kind the rollback takes off the timeline; without one, none."""
    return COUNT.at(lambda result: number(result.rollback.impact) if result.rollback else 0)


def _changes(rollback: RollbackResult | None) -> Sequence[RevertedFile]:
    return rollback.changes if rollback else ()


CORRECTION = shape(
    correction=shape(
        **OF_A_PLAN,
        mode=_MODE,
        guidance=TEXT,
        nearest=FLAG,
        dry_run=FLAG,
        decision=DECISION,
        corrective_decision=(DECISION | None).at("corrective"),
    ).at(itself),
    **ROLLBACK.within("rollback", nullable=True),
    affected_subtree=shape(
        decision=TEXT.at("decision.decision.number"),
        decisions=listed(
            shape(
                decision_id=ID.at("decision.decision_id"),
                number=TEXT.at("decision.number"),
                text=TEXT.at("decision.text"),
                relation=_RELATION,
            )
        ).at("affected"),
        superseded=FLAG.at(lambda result: result.rollback is not None),
        counts=shape(
            decisions=COUNT.at(lambda result: len(result.affected)),
            checkpoints=_superseded(lambda impact: impact.checkpoints_superseded),
            tool_calls=_superseded(lambda impact: impact.tool_calls_after_cp),
            runs=_superseded(lambda impact: impact.runs_after_cp),
            steps=_superseded(lambda impact: impact.steps_superseded),
            child_plans=_superseded(lambda impact: impact.child_plans_invalidated),
        ).at(itself),
    ).at(itself),
    sandbox_rollback=shape(
        performed=FLAG.at(lambda result: bool(result.rollback and not result.rollback.dry_run)),
        sandbox=TEXT.at("plan.sandbox.path"),
        checkpoint=(INTEGER | None).at("rollback.target.seq"),
        safety_checkpoint=(INTEGER | None).at("rollback.safety_checkpoint.seq"),
        restored_checkpoint=(INTEGER | None).at("rollback.restored_checkpoint.seq"),
        files_reverted=COUNT.at(lambda result: len(_changes(result.rollback))),
        verified=FLAG.at(lambda result: bool(result.rollback and result.rollback.verified)),
    ).at(itself),
    recompute=listed(
        shape(
            kind=words(Redo),
            id=ID.at("identity"),
            reference=TEXT,
            text=TEXT,
            relation=_RELATION | None,
        )
    ),
    history=listed(
        shape(
            correction_id=ID.at("correction.correction_id"),
            mode=_MODE.at("correction.mode"),
            decision=TEXT.at("decision.number"),
            corrective_decision=TEXT.at("corrective.number"),
            text=TEXT.at("decision.text"),
            guidance=TEXT.at("correction.guidance"),
            created_at=MOMENT.at("correction.created_at"),
        )
    ),
)
_STYLES = {
    Relation.CORRECTED: "bold red",
    Relation.DESCENDANT: "red",
    Relation.LATER: "yellow",
    Relation.EARLIER: "magenta",
}


def correction_report(result: CorrectionResult) -> Report:
    corrective, rollback = result.corrective, result.rollback
    own = corrective.checkpoint if corrective else None
    at = rollback.target if rollback and own is None else own
    return Report(
        data=CORRECTION.of(result),
        plain=lambda: _lines(result),
        rich=lambda verbose: _rich(result, verbose=verbose),
        values={
            # Of a dry run, the decision that would be corrected: the new one has no id yet.
            Value.ID: (corrective or result.decision).decision.decision_id,
            Value.COMMIT: at.sandbox_ref if at else None,
            Value.PATH: str(result.plan.sandbox.path),
        },
        messages=result.messages,
        silenced_by_quiet=not result.dry_run,
    )


def _lines(result: CorrectionResult) -> Iterator[str]:
    yield from named(
        (
            ("mode", result.mode),
            ("decision", result.decision.decision.number),
            ("corrective_decision", result.corrective and result.corrective.decision.number),
            ("guidance", result.guidance),
            ("nearest", result.nearest),
        )
    )
    for entry in result.affected:
        yield columns("affected", entry.decision.number, entry.relation, entry.decision.text)
    for item in result.recompute:
        yield columns("recompute", item.kind, item.reference, item.text)
    for past in result.history:
        said, instead = past.correction, past.corrective.number
        yield columns("history", past.decision.number, said.mode, instead, said.guidance)
    if result.rollback is not None:
        yield from rollback_lines(result.rollback)
    elif result.dry_run:
        yield DRY_RUN


def _rich(result: CorrectionResult, *, verbose: bool) -> Iterator[RenderableType]:
    yield _summary(result)
    if result.affected:
        yield _affected(result, verbose=verbose)
    if result.recompute:
        yield _recompute(result, verbose=verbose)
    if result.history:
        yield _history(result, verbose=verbose)
    if result.rollback is not None:
        yield from rollback_panels(result.rollback, verbose=verbose)
    elif result.mode is CorrectionMode.APPEND and result.dry_run:
        yield text(DRY_RUN, "bold yellow")


def _summary(result: CorrectionResult) -> Panel:
    wrong, instead = result.decision.decision, result.corrective
    reverts = result.mode is CorrectionMode.REVERT
    rows: list[tuple[str, object]] = [
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
