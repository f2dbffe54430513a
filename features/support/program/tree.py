"""The commands that the program has, asked of the program itself, and made ready for forks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.core import TyperCommand, TyperGroup

from backtrail.cli.app import program

if TYPE_CHECKING:
    from collections.abc import Iterator


def command_names() -> set[str]:
    """Every command by its words, such as `checkpoint create`; groups are no commands."""
    return {name for name, command in _commands(_root()) if not isinstance(command, TyperGroup)}


def warm_up() -> None:
    """Let every command parse an empty line, so that forks find ready what Typer makes for it."""
    for name, command in [("", _root()), *_commands(_root())]:
        command.make_context(name, [], resilient_parsing=True)


def _root() -> TyperGroup:
    root = program()
    assert isinstance(root, TyperGroup)
    return root


def _commands(
    group: TyperGroup, before: str = ""
) -> Iterator[tuple[str, TyperCommand | TyperGroup]]:
    """Commands and groups by their words."""
    for name, command in group.commands.items():
        if isinstance(command, TyperCommand | TyperGroup):
            yield f"{before}{name}", command
        if isinstance(command, TyperGroup):
            yield from _commands(command, f"{before}{name} ")
