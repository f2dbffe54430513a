"""Checkpoints outside of Backtrail: as a branch of the user's, as a directory, as an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.operation import OperationKind
from backtrail.domain.plan import BranchResult, ExportResult
from backtrail.git.applying.tree import commit_checkpoint
from backtrail.git.process.users_git import UsersGit
from backtrail.git.restore.export import (
    archive_mode,
    materialize,
    new_directory,
    pack,
    refuse_existing,
)
from backtrail.git.store.objects import list_tree
from backtrail.git.store.store import scratch_directory
from backtrail.git.user.branches import (
    create_branch,
    refuse_impossible_branch,
    refuse_invalid_branch,
)
from backtrail.services.plans.fork import whole_content
from backtrail.services.references import find_checkpoint
from backtrail.services.session.journal import Entry, log_done

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.checkpoint import Checkpoint
    from backtrail.domain.ids import PlanId
    from backtrail.domain.plan import Plan
    from backtrail.services.session.context import Workspace


def branch_checkpoint(
    ws: Workspace, plan_id: PlanId, reference: str, branch: str, message: str
) -> BranchResult:
    """Make a checkpoint an ordinary branch of the user's repository."""
    plan, checkpoint = _find(ws, plan_id, reference)
    refuse_invalid_branch(ws.common_dir, branch)
    exists, hint = "already exists: it is not moved", "choose another name"
    refuse_impossible_branch(ws.common_dir, branch, exists=exists, hint=hint)
    captured = whole_content(ws, checkpoint)
    said = message or f"{plan.name}: checkpoint {checkpoint.seq}"
    if not message and checkpoint.reason:
        said = f"{said}\n\n{checkpoint.reason}"
    users = UsersGit(ws.common_dir, ws.users_environment)
    commit = commit_checkpoint(ws.store, users, captured, said)
    create_branch(ws.store, branch, commit, f"checkpoint {checkpoint.checkpoint_id}")
    with ws.database.write() as uow:
        entry = Entry(OperationKind.BRANCH, reason=branch, target=checkpoint.checkpoint_id)
        log_done(ws, uow, plan, entry, outcome={"commit": commit})
    return BranchResult(plan, checkpoint, branch, commit)


def export_checkpoint(
    ws: Workspace, plan_id: PlanId, reference: str, target: Path, *, ignored: bool
) -> ExportResult:
    """Write a checkpoint's files to a new directory, or to a new archive if so named."""
    plan, checkpoint = _find(ws, plan_id, reference)
    refuse_existing(target)
    captured = whole_content(ws, checkpoint)
    mode, included = archive_mode(target), captured.state.included.tree
    ws.progress("writing files")
    with scratch_directory(ws.store) as scratch:
        if mode is None:
            with new_directory(ws.store, target, scratch) as building:
                count = materialize(ws.store, captured, building, ignored=ignored)
        else:
            tree = scratch / "tree"
            tree.mkdir()
            count = materialize(ws.store, captured, tree, ignored=ignored)
            pack(tree, target, mode, int(checkpoint.created_at.timestamp()), scratch)
    left_out = len(list_tree(ws.store, included)) if included and not ignored else 0
    return ExportResult(plan, checkpoint, target, count, left_out)


def _find(ws: Workspace, plan_id: PlanId, reference: str) -> tuple[Plan, Checkpoint]:
    with ws.database.read() as uow:
        plan = uow.plans.get(plan_id)
        return plan, find_checkpoint(uow, plan, reference)
