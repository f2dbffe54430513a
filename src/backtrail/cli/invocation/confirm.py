"""Questions to a person; they go to standard error, and nothing is asked without a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from backtrail.cli.render.streams import talk
from backtrail.cli.render.text import ago, count, safe
from backtrail.domain.errors import NotConfirmedError, UsageError
from backtrail.domain.rollback import RevertAction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backtrail.bootstrap import Services
    from backtrail.cli.invocation.session import Session
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.correction import CorrectionResult
    from backtrail.domain.plan import ApplyResult, Plan, RemovalResult
    from backtrail.domain.retention import PruneResult, RetentionRow
    from backtrail.domain.rollback import RollbackResult


OFFERED = 20


def confirm_rollback(session: Session, preview: RollbackResult) -> None:
    _confirm(session, _preview_lines(preview))


def confirm_apply(session: Session, preview: ApplyResult) -> None:
    """Say where the work goes, and ask."""
    where = f" and its files in {preview.checkout}" if preview.checkout else ""
    _confirm(
        session,
        [
            f"Plan {preview.plan.name} goes onto branch {preview.onto} ({preview.strategy}).",
            f"{count(len(preview.files), 'file')} of that branch{where} would change.",
        ],
    )


def confirm_correction(session: Session, preview: CorrectionResult) -> None:
    """Show what a revert would do, and ask."""
    decision = preview.decision.decision
    sentences = [
        f"Decision {decision.number} is taken back: {decision.text}",
        f"{count(len(preview.affected), 'decision')} would leave the timeline.",
    ]
    if preview.rollback is not None:
        sentences += _preview_lines(preview.rollback)
    _confirm(session, sentences)


def confirm_removal(session: Session, preview: PruneResult) -> None:
    """Show what would go and ask; nothing is asked if nothing would."""
    removed = [entry.checkpoint for entry in preview.decision.removed]
    if not removed:
        return
    numbers = ", ".join(_numbered(row) for row in removed[:OFFERED])
    more = f" and {len(removed) - OFFERED} more" if len(removed) > OFFERED else ""
    _confirm(
        session,
        [
            f"Plan {preview.plan.name} loses {count(len(removed), 'checkpoint')} for good:",
            f"{numbers}{more}.",
        ],
    )


def confirm_plan_removal(session: Session, preview: Callable[[], RemovalResult]) -> None:
    """Show what removing a plan would do, and ask."""
    refuse_without_terminal(session, "removing a plan")
    result = preview()
    name, path = result.plan.name, result.plan.sandbox.path
    sentences = [f"Plan {name} is removed; its sandbox is {path}."]
    if result.purge is None:
        sentences.append(f"It is saved first: plan restore {name} brings it back.")
    _confirm(session, sentences)


def confirm_purge(session: Session, plan: Plan, given: str | None) -> None:
    """The second question, before something goes for good: it wants the plan's name."""
    if given is None and not session.interactive:
        raise NotConfirmedError(
            "a purge must be confirmed twice, and there is nobody to ask; nothing was changed",
            hint=f"--confirm {plan.name} beside --yes confirms it, --dry-run shows what would go",
        )
    if given is None:
        session.progress.stop()
        talk("What is purged is gone for good: no command brings it back.")
        given = _ask(f"Type the plan's name ({plan.name}) to go on: ")
    if given != plan.name:
        raise NotConfirmedError(
            f"{given!r} is not the name of the plan; nothing was changed",
            hint=f"its name is {plan.name}",
        )


def _numbered(row: RetentionRow) -> str:
    return f"{row.seq} ({row.label})" if row.label else str(row.seq)


def _confirm(session: Session, sentences: Sequence[str]) -> None:
    """Show what would happen and ask; anything but yes is no."""
    session.progress.stop()
    for sentence in sentences:
        talk(safe(sentence))
    if _ask("Go on? [y/N] ").lower() not in {"y", "yes"}:
        raise NotConfirmedError("not confirmed; nothing was changed")


def refuse_without_terminal(session: Session, what: str = "a rollback") -> None:
    if not session.interactive:
        raise NotConfirmedError(
            f"{what} must be confirmed, and there is nobody to ask; nothing was changed",
            hint="--yes confirms it, --dry-run shows what would happen",
        )


def pick_checkpoint(session: Session, services: Services, plan: Plan) -> str:
    """A reference that a person chose from a list."""
    if not session.interactive:
        raise UsageError(
            "no checkpoint is named",
            hint="name one, such as latest~1; plan checkpoint list shows them",
        )
    checkpoints = services.checkpoints.list_checkpoints(plan.plan_id)
    session.progress.stop()
    _offer([c for c in checkpoints if c.restorable][-OFFERED:])
    answer = _ask("Roll back to which checkpoint? (number or label, empty for none) ")
    if not answer:
        raise NotConfirmedError("no checkpoint was chosen; nothing was changed")
    return answer


def _offer(checkpoints: Sequence[Checkpoint]) -> None:
    from backtrail.cli.render.look import console
    from backtrail.cli.views.checkpoints import checkpoint_table

    console(stderr=True).print(checkpoint_table(checkpoints))


def _preview_lines(preview: RollbackResult) -> list[str]:
    target, changes = preview.target, preview.changes
    restored = sum(c.action is RevertAction.RESTORED for c in changes)
    label = f" ({target.label})" if target.label else ""
    superseded = count(preview.impact.checkpoints_superseded, "checkpoint")
    return [
        f"Plan {preview.plan.name} goes back to checkpoint {target.seq}{label}.",
        f"It was taken {ago(target.created_at)}; {superseded} would leave the timeline.",
        f"Files: {restored} restored, {len(changes) - restored} removed.",
        "What is there now is saved first: plan undo brings it back.",
    ]


def _ask(question: str) -> str:
    # input() would write the question to standard output, among the data.
    talk(question, end="")
    answer = ""
    try:
        answer = sys.stdin.readline()
    finally:
        # Neither Ctrl-C nor Ctrl-D ends the line that the cursor is on.
        if not answer.endswith("\n"):
            talk("")
    return answer.strip()
