"""Finding the checkpoint, the decision or the run that a reference names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.decision import CURRENT, number_in
from backtrail.domain.errors import AmbiguousError, NotFoundError, RefusedError
from backtrail.domain.reference import (
    ULID_LENGTH,
    CheckpointReference,
    ReferenceKind,
    parse_reference,
)
from backtrail.domain.timeline import Lineage

if TYPE_CHECKING:
    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.decision import Decision
    from backtrail.domain.ids import DecisionId
    from backtrail.domain.plan import Plan
    from backtrail.domain.run import Run
    from backtrail.storage.database import UnitOfWork


_SHOWN = 5
# Fewer digits than this are a number that does not exist, not the beginning of an id.
_DIGITS_OF_AN_ID = 4
_CHECKPOINTS = "plan checkpoint list --all shows every checkpoint of the plan"


def find_checkpoint(uow: UnitOfWork, plan: Plan, text: str) -> Checkpoint:
    """The checkpoint of this plan that the text names; exact beats prefix."""
    reference = parse_reference(text)
    found = _by_kind(uow, plan, reference)
    if found is None and reference.kind in (ReferenceKind.WORD, ReferenceKind.SEQ):
        found = _checkpoint_by_prefix(uow, plan, reference)
    gone = uow.pruning.had_label(plan.plan_id, reference.word) if found is None else None
    if gone is not None:
        raise NotFoundError(
            f"checkpoint {text!r}, number {gone.seq} of plan {plan.name!r}, "
            f"{gone.what_became_of_it}",
            hint=_CHECKPOINTS,
        )
    if found is None:
        raise NotFoundError(f"plan {plan.name!r} has no checkpoint {text!r}", hint=_CHECKPOINTS)
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


def _checkpoint_by_prefix(
    uow: UnitOfWork, plan: Plan, reference: CheckpointReference
) -> Checkpoint | None:
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


# Fewer digits than this are a number that does not exist, not the beginning of an id.
_SHORTEST_PREFIX = 4
_DECISIONS = "plan decision list --all shows every decision of the plan"


def find_decision(uow: UnitOfWork, plan: Plan, text: str) -> Decision:
    """The decision of this plan that the text names; a number beats the beginning of an id."""
    found = search_decision(uow, plan, text)
    if found is None:
        raise NotFoundError(f"plan {plan.name!r} has no decision {text!r}", hint=_DECISIONS)
    return found


def search_decision(uow: UnitOfWork, plan: Plan, text: str) -> Decision | None:
    """The same; None if there is no such decision."""
    number = number_in(text)
    found = None
    if text == CURRENT:
        newest = current_decision(uow, plan)
        found = uow.decisions.get(plan.plan_id, newest) if newest else None
    elif number is not None:
        found = uow.decisions.by_seq(plan.plan_id, number)
    return found or _decision_by_prefix(uow, plan, text)


def live_decision(uow: UnitOfWork, plan: Plan, text: str) -> DecisionId:
    """The id of a decision that holds; what is superseded can have nothing new follow from it."""
    found = find_decision(uow, plan, text)
    check_live(uow, plan, found)
    return found.decision_id


def check_live(uow: UnitOfWork, plan: Plan, decision: Decision) -> None:
    if decision.place is None:
        raise RefusedError(
            f"decision {decision.number} of plan {plan.name!r} was never finished",
            hint=f"decide it again; plan decision list {plan.name} shows those that hold",
        )
    if not timeline_of(uow, plan).contains(*decision.place):
        raise RefusedError(
            f"decision {decision.number} of plan {plan.name!r} is superseded",
            hint=f"plan decision list {plan.name} shows those that hold",
        )


def current_decision(uow: UnitOfWork, plan: Plan) -> DecisionId | None:
    """The newest decision that holds: what begins now belongs to it."""
    return uow.decisions.newest_in(plan.plan_id, timeline_of(uow, plan))


def timeline_of(uow: UnitOfWork, plan: Plan) -> Lineage:
    """The plan's current lineage."""
    return uow.epochs.lineage(plan.plan_id, plan.current_epoch)


def _decision_by_prefix(uow: UnitOfWork, plan: Plan, text: str) -> Decision | None:
    prefix = text.upper()
    if not _SHORTEST_PREFIX <= len(prefix) <= ULID_LENGTH:
        return None
    found = uow.decisions.by_prefix(plan.plan_id, prefix, _SHOWN)
    if len(found) > 1:
        raise AmbiguousError(
            f"{text!r} is the beginning of more than one decision id",
            hint="give more of the id, or the number from plan decision list",
            details={"candidates": [f"{d.number} ({d.decision_id})" for d in found]},
        )
    if found:
        return found[0]
    stranger = uow.decisions.by_id_any_plan(plan.repository_id, prefix)
    if stranger is not None:
        other = uow.plans.get(stranger.plan_id)
        raise RefusedError(
            f"decision {text!r} belongs to plan {other.name!r}, not to {plan.name!r}",
            hint=f"plan decision show {other.name} {stranger.number} shows it",
            details={"plan": other.name},
        )
    return None


_LONGEST_NUMBER = 9


def find_run(uow: UnitOfWork, plan: Plan, text: str) -> Run:
    """The run of this plan with that number or id; the beginning of an id will do."""
    found = search_run(uow, plan, text)
    if found is None:
        raise NotFoundError(
            f"plan {plan.name!r} has no run {text!r}", hint=f"plan runs {plan.name} shows them"
        )
    return found


def search_run(uow: UnitOfWork, plan: Plan, text: str) -> Run | None:
    """The same; None if there is no such run."""
    if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER:
        found = uow.runs.by_number(plan.plan_id, int(text))
        if found is not None:
            return found
    if not text.isalnum():
        return None
    named = uow.runs.by_prefix(plan.plan_id, text.upper(), _SHOWN)
    if len(named) > 1:
        raise AmbiguousError(
            f"{text!r} is the beginning of more than one run id",
            hint="give more of the id, or the number from plan runs",
            details={"candidates": [run.run_id for run in named]},
        )
    return named[0] if named else None
