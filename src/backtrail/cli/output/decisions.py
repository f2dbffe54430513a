"""Reports about decisions."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from backtrail.cli.output.decision_tree import decision_tree_lines, remarks_of
from backtrail.cli.output.fields import decision_fields
from backtrail.cli.output.report import Report, Value
from backtrail.cli.output.text import ago, count, safe, timestamp
from backtrail.domain.decision_tree import twigs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from backtrail.domain.decision import Decisions, MadeUnderDecision, StandingDecision
    from backtrail.domain.plan import Plan


def added_report(plan: Plan, entry: StandingDecision) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.output.look import line

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
        data={"decision": decision_fields(entry)},
        plain=lambda: _lines(entry),
        rich=rich,
        values=_values(entry),
        silenced_by_quiet=True,
    )


def decision_report(entry: StandingDecision, made: MadeUnderDecision) -> Report:
    return Report(
        data={"decision": decision_fields(entry), "made": asdict(made)},
        plain=lambda: _lines(entry, made),
        rich=lambda _verbose: _shown(entry, made),
        values=_values(entry),
    )


def decisions_report(decisions: Decisions) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.output.look import table

        if decisions.entries:
            names = ["decision", "follows", "what", "checkpoint", "when", ""]
            rows = [_cells(e, verbose=verbose) for e in decisions.entries]
            yield table([*names, "id"] if verbose else names, rows)
        yield from _note(decisions)

    return Report(
        data=_data(decisions, [decision_fields(e) for e in decisions.entries]),
        plain=lambda: (_row(e) for e in decisions.entries),
        rich=rich,
    )


def tree_report(decisions: Decisions) -> Report:
    tree = twigs(decisions.entries)

    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.output.decision_drawing import DecisionTree

        if tree:
            yield DecisionTree(f"Decisions of plan {decisions.plan.name}", tree, verbose)
        yield from _note(decisions)

    return Report(
        data=_data(decisions, [{**decision_fields(t.entry), "depth": t.depth} for t in tree]),
        plain=lambda: decision_tree_lines(tree),
        rich=rich,
    )


def _data(decisions: Decisions, entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "plan": decisions.plan.name,
        "plan_id": decisions.plan.plan_id,
        "decisions": entries,
        "left_out": decisions.left_out,
    }


def _note(decisions: Decisions) -> Iterator[RenderableType]:
    from backtrail.cli.output.look import text

    if not decisions.entries:
        name = decisions.plan.name
        hint = f"plan decision add {name} TEXT records one"
        yield text(f"Plan {name} has no decisions that hold; {hint}.", "dim")
    if decisions.left_out:
        yield text(f"{count(decisions.left_out, 'other')} not shown (--all shows them).", "dim")


def _row(entry: StandingDecision) -> str:
    """Number, state, what it follows from, its checkpoint, text."""
    decision = entry.decision
    state = "current" if entry.current else str(entry.state)
    checkpoint = str(entry.checkpoint.seq) if entry.checkpoint else "-"
    return "\t".join((decision.number, state, _follows(entry), checkpoint, safe(decision.text)))


def _follows(entry: StandingDecision) -> str:
    return entry.parent.number if entry.parent else "-"


def _cells(entry: StandingDecision, *, verbose: bool) -> list[RenderableType]:
    from backtrail.cli.output.look import text

    decision, faded = entry.decision, "" if entry.live else "dim"
    return [
        text(decision.number, f"bold cyan {faded}"),
        text(_follows(entry), "dim"),
        text(decision.text, faded),
        text(entry.checkpoint.seq if entry.checkpoint else "-", faded),
        text(ago(decision.created_at), "dim"),
        text(", ".join(remarks_of(entry)), "bold green" if entry.current else "dim"),
        *([text(decision.decision_id, "dim")] if verbose else []),
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
    yield "created", timestamp(decision.created_at)


def _made_facts(made: MadeUnderDecision | None) -> Iterator[tuple[str, str]]:
    if made is not None:
        yield "made_checkpoints", ", ".join(map(str, made.checkpoints)) or "-"
        yield "made_runs", ", ".join(map(str, made.runs)) or "-"
        yield "made_steps", ", ".join(made.steps) or "-"


def _lines(entry: StandingDecision, made: MadeUnderDecision | None = None) -> Iterator[str]:
    told = (*_facts(entry), *_made_facts(made))
    return (f"{name}: {safe(value)}" for name, value in told)


def _shown(
    entry: StandingDecision, made: MadeUnderDecision | None = None
) -> Iterator[RenderableType]:
    from backtrail.cli.output.look import facts, panel, text

    told = (*_facts(entry), *_made_facts(made))
    rows = [(name.replace("_", " ").capitalize(), text(value)) for name, value in told]
    style = "cyan" if entry.live else "yellow"
    yield panel(f"Decision {entry.decision.number}", facts(rows), style)
