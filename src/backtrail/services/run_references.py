"""Finding the run that somebody names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.errors import AmbiguousError, NotFoundError

if TYPE_CHECKING:
    from backtrail.domain.plan import Plan
    from backtrail.domain.run import Run
    from backtrail.storage.database import UnitOfWork

_SHOWN = 5
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
