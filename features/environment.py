"""Behave's hooks: every scenario has a world of its own, removed at the end."""

import logging
import os
from importlib import import_module

from support.program import running
from support.storage import rows, statements
from support.world import measuring
from support.world.world import World

# Looks at `sys.path` when it is imported, and may do so only before behave puts what is no string
# there: the folders of the step files.
import_module("hypothesis")


def before_all(context):
    logging.getLogger("alembic").setLevel(logging.WARNING)
    statements.share()


def before_scenario(context, scenario):
    context.world = World()
    context.remembered = {}
    measuring.begin(wanted=_is_measured(scenario.effective_tags))


def _is_measured(tags):
    """What runs on both databases is measured on SQLite alone."""
    return "unmeasured" not in tags and ("postgresql" in tags or not rows.on_postgresql())


def after_scenario(context, scenario):
    measuring.end()
    running.end_all()
    if scenario.status == "failed" and os.environ.get("KEEP_WORLD"):
        print(f"kept: {context.world.root}")  # noqa: T201
        return
    context.world.remove()
