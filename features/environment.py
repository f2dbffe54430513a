"""Behave's hooks: every scenario has a world of its own, removed at the end."""

import logging
import os

from support import measuring, statements
from support.world import World


def before_all(context):
    logging.getLogger("alembic").setLevel(logging.WARNING)
    statements.share()


def before_scenario(context, scenario):
    context.world = World()
    context.remembered = {}
    measuring.begin(wanted="unmeasured" not in scenario.effective_tags)


def after_scenario(context, scenario):
    measuring.end()
    if scenario.status == "failed" and os.environ.get("KEEP_WORLD"):
        print(f"kept: {context.world.root}")  # noqa: T201
        return
    context.world.remove()
