"""Where a run's command is started: in the sandbox, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.domain.errors import UsageError

if TYPE_CHECKING:
    from backtrail.domain.ids import PlanId
    from backtrail.services.workspace import Workspace


def directory_in_sandbox(ws: Workspace, plan: PlanId, wanted: str) -> Path:
    """The real path of a directory of the sandbox, named from the sandbox's own root."""
    given = ws.plan(plan).sandbox.path
    root = Path(os.path.realpath(given))
    place = Path(os.path.realpath(given / wanted))
    if not place.is_relative_to(root):
        raise UsageError(
            f"the directory {wanted!r} is not inside the sandbox",
            hint=f"name one below {root}",
        )
    if place != root and not place.is_dir():
        raise UsageError(
            f"there is no directory {wanted!r} in the sandbox", hint=f"name one below {root}"
        )
    return place
