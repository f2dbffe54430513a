"""One of many processes that work at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.bootstrap import open_services
from backtrail.domain.decision import DecisionRequest
from support.world.world import PATIENCE_SECONDS

if TYPE_CHECKING:
    from pathlib import Path


def work(repository: Path, what: str, name: str, count: int) -> None:
    """Save checkpoints of one plan, or `decide` in it.

    `create` makes it first, `attach` on the checkout itself.
    """
    services = open_services(repository, os.environ, command_line="worker")
    try:
        if what in ("create", "attach"):
            services.plans.create(name, sandbox=repository if what == "attach" else None)
        plan = services.plans.resolve(name)
        for number in range(count):
            place = plan.sandbox.path / f"by {os.getpid()}.txt"
            place.write_text(f"{number}\n")
            # How long the others take is the machine's business, and not what is tried here.
            if what == "decide":
                request = DecisionRequest(f"{number} by {os.getpid()}")
                services.decisions.add(plan.plan_id, request, wait=PATIENCE_SECONDS)
            else:
                services.checkpoints.create_checkpoint(plan.plan_id, wait=PATIENCE_SECONDS)
    finally:
        services.close()
