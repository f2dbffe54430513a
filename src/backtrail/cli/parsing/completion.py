"""Shell completion of plan names."""

from __future__ import annotations

import os
from pathlib import Path


def complete_plan(incomplete: str) -> list[tuple[str, str]]:
    """Plans of the repository around; none if anything is wrong, for this is no place to say so."""
    try:
        from backtrail.bootstrap import open_services

        services = open_services(Path.cwd(), os.environ, command_line="", make=False, tolerated=[])
        try:
            plans = services.plans.list_plans()
        finally:
            services.close()
    except Exception:  # noqa: BLE001 - an error message would land in the middle of a command line
        return []
    return [(p.name, f"{p.phase}, {p.state}") for p in plans if p.name.startswith(incomplete)]
