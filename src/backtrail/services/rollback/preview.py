"""Exactly what an order would do; nothing of it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.rollback import RollbackResult
from backtrail.git.restore.goal import goal_of
from backtrail.git.restore.plan import plan_files
from backtrail.services.rollback.forecast import Outlook
from backtrail.services.rollback.guard import (
    check_guards,
    git_plan_for,
    gone_for_good,
    replacing_for,
    with_whole_paths,
)
from backtrail.services.rollback.impact import effect_of, state_forecast
from backtrail.services.rollback.report import about_what_is_gone, left_alone, spared, worth_saying
from backtrail.services.session.context import collection_put_off
from backtrail.services.session.guards import check_leaves_other_sandboxes, foretell_abort

if TYPE_CHECKING:
    from backtrail.services.rollback.order import Order
    from backtrail.services.session.context import EnteredSandbox


@collection_put_off()
def preview(locked: EnteredSandbox, order: Order, *, abort_run: bool = False) -> RollbackResult:
    """Exactly what carrying the order out would do; nothing of it is done."""
    if abort_run:
        foretell_abort(locked.workspace, locked.plan)
    aim = check_guards(locked, order, abort_run=abort_run)
    wanted, order = aim.wanted, with_whole_paths(locked, order, aim.wanted)
    entry = order.entry
    current = locked.camera.peek(replacing=replacing_for(locked, aim, entry))
    goal = goal_of(locked.store, wanted, current, entry.paths)
    files = plan_files(locked.store, current, goal)
    check_leaves_other_sandboxes(locked, current.state, files.changes)
    partial = bool(entry.paths)
    with locked.workspace.database.read() as uow:
        effect = effect_of(uow, locked, order.target, partial=partial)
        outlook = Outlook(entry, order.target, current.tree, goal.tree)
        after = state_forecast(uow, locked, outlook)
    said = (*order.said, *effect.remarks)
    gone = gone_for_good(locked, aim)
    git_plan = None if partial else git_plan_for(locked, wanted, entry.asked)
    if git_plan:
        told = worth_saying(locked.sandbox.path, wanted.state, current.state, files)
        said = (*git_plan.messages, *told, *about_what_is_gone(wanted.state, gone), *said)
    staying = spared(locked.sandbox.path, current.ignored, files)
    return RollbackResult(
        plan=locked.plan,
        kind=entry.kind,
        operation_id=None,
        target=order.target,
        safety_checkpoint=None,
        restored_checkpoint=None,
        verified=False,
        dry_run=True,
        paths=entry.paths,
        changes=files.changes,
        left_alone=left_alone(files, staying, current.state.not_captured),
        impact=effect.impact,
        after=after,
        not_restored=git_plan.not_restored if git_plan else (),
        messages=said,
        gone_since=gone,
    )
