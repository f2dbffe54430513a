"""The commands that the program has, asked of the program itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.core import TyperGroup
from typer.main import get_command

from backtrail.cli.app import build

if TYPE_CHECKING:
    from collections.abc import Iterator


def command_names() -> set[str]:
    """Every command by its words, such as `checkpoint create`; groups are no commands."""
    root = get_command(build())
    assert isinstance(root, TyperGroup)
    return set(_names(root))


def _names(group: TyperGroup, before: str = "") -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from _names(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"
