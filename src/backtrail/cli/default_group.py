"""A group of commands of which one is meant when none is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.suggestions import CarefulGroup

if TYPE_CHECKING:
    from typer._click.core import Context

DEFAULT = "list"
_HELP = ("-h", "--help")


class ListingGroup(CarefulGroup):
    """`plan runs auth` is `plan runs list auth`."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        if first not in self.commands and first not in _HELP:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)
