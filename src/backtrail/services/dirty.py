"""The user's own checkout with its uncommitted changes, captured without touching it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.domain.ids import PlanId, SandboxId
from backtrail.domain.plan import Sandbox, SandboxKind
from backtrail.git.discovery import gitdir_backlink, worktree_at
from backtrail.git.gitstate import read_git_state
from backtrail.git.identity import refuse_own_files_inside
from backtrail.git.transfer import bring_tip
from backtrail.services.ids import new_id
from backtrail.services.workspace import DEFAULT_WAIT

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.git.capture import Captured
    from backtrail.services.workspace import Workspace


def capture_checkout(ws: Workspace) -> Captured:
    """What is in the checkout that the caller is in: staged, changed, untracked and deleted."""
    place = _stand_in(ws)
    refuse_own_files_inside(place.path, ws.own_paths)
    layout, sandbox_id = ws.layout, place.sandbox_id
    ws.progress("looking at your checkout")
    try:
        with ws.holding(place, wait=DEFAULT_WAIT) as store:
            store.link_user_objects()
            if place.base_commit:
                bring_tip(store, place.base_commit)
            return ws.camera(place, store).capture()
    finally:
        # It was looked at once; nothing of it has to be quick a second time.
        for leftover in (*layout.indexes.glob(f"{sandbox_id}*"), layout.sandbox_lock(sandbox_id)):
            leftover.unlink(missing_ok=True)


def _stand_in(ws: Workspace) -> Sandbox:
    """The checkout, described as if it were a sandbox."""
    root = _root(ws)
    if root is None or worktree_at(root) is None:
        raise RefusedError(
            "there is no checkout here whose changes could be taken along",
            hint="run this in a worktree of the repository, or leave --from-dirty out",
        )
    return Sandbox(
        sandbox_id=SandboxId(new_id()),
        plan_id=PlanId(new_id()),
        kind=SandboxKind.ATTACHED,
        path=root,
        git_dir=ws.start_git_dir,
        branch=None,
        base_commit=read_git_state(ws.start_git_dir, None).head_commit,
        store_id=ws.store_id,
        host_id=ws.host_id,
    )


def _root(ws: Workspace) -> Path | None:
    if ws.start_git_dir == ws.common_dir:
        return ws.main_root
    backlink = gitdir_backlink(ws.start_git_dir)
    return backlink.parent if backlink else None
