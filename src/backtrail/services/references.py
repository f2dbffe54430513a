"""Finding the checkpoint that a reference names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.errors import AmbiguousError, NotFoundError, RefusedError
from backtrail.domain.reference import (
    ULID_LENGTH,
    CheckpointReference,
    ReferenceKind,
    parse_reference,
)
from backtrail.services.decision_references import search_decision
from backtrail.services.run_references import search_run

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.plan import Plan
    from backtrail.storage.database import UnitOfWork

_SHOWN = 5
# Fewer digits than this are a number that does not exist, not the beginning of an id.
_DIGITS_OF_AN_ID = 4
_HINT = "plan checkpoint list --all shows every checkpoint of the plan"


def find_checkpoint(uow: UnitOfWork, plan: Plan, text: str) -> Checkpoint:
    """The checkpoint of this plan that the text names; exact beats prefix."""
    reference = parse_reference(text)
    found = _by_kind(uow, plan, reference)
    if found is None and reference.kind in (ReferenceKind.WORD, ReferenceKind.SEQ):
        found = _by_prefix(uow, plan, reference)
    gone = uow.pruning.had_label(plan.plan_id, reference.word) if found is None else None
    if gone is not None:
        raise NotFoundError(
            f"checkpoint {text!r}, number {gone.seq} of plan {plan.name!r}, "
            f"{gone.what_became_of_it}",
            hint=_HINT,
        )
    if found is None:
        raise NotFoundError(f"plan {plan.name!r} has no checkpoint {text!r}", hint=_HINT)
    return found


def _by_kind(uow: UnitOfWork, plan: Plan, reference: CheckpointReference) -> Checkpoint | None:
    checkpoints, plan_id = uow.checkpoints, plan.plan_id
    match reference.kind:
        case ReferenceKind.SEQ:
            return checkpoints.by_seq(plan_id, reference.number)
        case ReferenceKind.FIRST:
            return checkpoints.first(plan_id)
        case ReferenceKind.LATEST:
            found = checkpoints.live(plan_id, newest=1, offset=reference.number)
            return found[0] if found else None
        case ReferenceKind.LAST_GREEN:
            return checkpoints.last_green(plan_id)
        case ReferenceKind.WORD:
            return checkpoints.by_label(plan_id, reference.word)
        case ReferenceKind.BEFORE:
            return _before(uow, plan, reference.word)


def _before(uow: UnitOfWork, plan: Plan, word: str) -> Checkpoint | None:
    """The checkpoint that was taken before a run or a decision; a bare number is a run's."""
    run = search_run(uow, plan, word)
    if run is not None:
        return uow.checkpoints.get(run.pre_checkpoint_id) if run.pre_checkpoint_id else None
    decision = None if word.isdigit() else search_decision(uow, plan, word)
    if decision is None:
        return None
    return uow.decisions.own_checkpoints(plan.plan_id).get(decision.decision_id)


def _by_prefix(uow: UnitOfWork, plan: Plan, reference: CheckpointReference) -> Checkpoint | None:
    prefix = reference.word.upper()
    too_short = reference.kind is ReferenceKind.SEQ and len(prefix) < _DIGITS_OF_AN_ID
    if too_short or len(prefix) > ULID_LENGTH:
        return None
    found = uow.checkpoints.by_prefix(plan.plan_id, prefix, _SHOWN)
    if len(found) > 1:
        raise AmbiguousError(
            f"{reference.text!r} is the beginning of more than one checkpoint id",
            hint="give more of the id, or the number from plan checkpoint list",
            details={"candidates": [c.checkpoint_id for c in found]},
        )
    if found:
        return found[0]
    stranger = uow.checkpoints.by_id_any_plan(plan.repository_id, prefix)
    if stranger is not None:
        other = uow.plans.get(stranger.plan_id)
        raise RefusedError(
            f"checkpoint {reference.text!r} belongs to plan {other.name!r}, not to {plan.name!r}",
            hint=f"plan rollback {other.name} {stranger.seq} would restore it there",
            details={"plan": other.name},
        )
    return None
