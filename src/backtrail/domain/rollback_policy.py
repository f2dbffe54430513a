"""Whether a plan may be rolled back at all, and whether somebody must agree to it each time."""

from __future__ import annotations

from dataclasses import dataclass

ROLLBACK = "rollback"
"""Under this name a plan's own rules about rollbacks are stored and shown."""


@dataclass(frozen=True, slots=True)
class RollbackPolicy:
    """The `[rollback]` section of `plan.toml`."""

    allowed: bool = True
    require_confirmation: bool = True
    """False lets a script leave `--yes` out, and asks no person either."""
