"""What is generated, by the names that pages use."""

from __future__ import annotations

from . import commands, fields, house, settings, tables
from .pages import Generators


def generators() -> Generators:
    return {
        "overview of commands": commands.overview,
        "options for all commands": commands.options_for_all,
        "the program": commands.program,
        "commands": commands.reference,
        "envelope": fields.envelope,
        "data of commands": fields.commands,
        "shared objects": fields.shared,
        "settings": settings.reference,
        "variables": settings.variables,
        "revision": tables.revision,
        "overview of tables": tables.overview,
        "tables": tables.reference,
        "packages": house.packages,
    }
