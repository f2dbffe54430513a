"""Ignored files that a new sandbox gets from the main checkout, so that it works at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.domain.plan import SandboxKind
from backtrail.git.copying import chosen_ignored, copy_files
from backtrail.git.discovery import worktree_at

if TYPE_CHECKING:
    from backtrail.domain.plan import Sandbox
    from backtrail.git.store import PrivateStore
    from backtrail.services.workspace import Workspace


def bring_along(ws: Workspace, store: PrivateStore, sandbox: Sandbox) -> tuple[str, ...]:
    """Copy what `[sandbox] copy` and `.worktreeinclude` choose into a sandbox of our own."""
    main = worktree_at(ws.main_root)
    if sandbox.kind is not SandboxKind.OWN or main is None:
        return ()
    chosen = chosen_ignored(store, main, ws.user, ws.settings.sandbox.copy)
    return tuple(map(os.fsdecode, copy_files(main.root, sandbox.path, chosen)))
