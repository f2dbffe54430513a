"""Groups of commands: the one that is meant when none is named, and what is meant by a typo."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from typer import TyperException
from typer.core import TyperGroup

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer._click.core import Command, Context


_F = TypeVar("_F", bound="Callable[..., object]")
_MARK = "destructive"


def destructive(function: _F) -> _F:
    """Mark a command that takes something away or changes somebody's files."""
    setattr(function, _MARK, True)
    return function


class CarefulGroup(TyperGroup):
    """Commands of which a program that takes advice literally may try what is suggested."""

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except TyperException as error:
            from difflib import get_close_matches

            nearest = get_close_matches(args[0], self.commands)
            # If the nearest is destructive, the next one is hardly what was meant.
            if nearest and not getattr(self.commands[nearest[0]].callback, _MARK, False):
                error.message = f"{error.message.rstrip('.')}. Did you mean {nearest[0]!r}?"
            raise


DEFAULT = "list"
_HELP = ("-h", "--help")


class ListingGroup(CarefulGroup):
    """`plan runs auth` is `plan runs list auth`."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        if first not in self.commands and first not in _HELP:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)
