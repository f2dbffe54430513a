"""The reference of the command line, drawn from the program's own command tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from backtrail.cli.app import build
from backtrail.cli.parsing.options import FOR_ALL

from .markdown import code, fenced, link, table
from .parameters import argument_rows, option_rows, usage_words

PROGRAM = "plan"
OTHERS = "Others"
_ARGUMENTS, _OPTIONS = ("argument", "meaning"), ("option", "value", "meaning")


@dataclass(frozen=True, slots=True)
class Entry:
    """A command or a group of commands, and where `--help` shows it."""

    name: str
    panel: str
    command: TyperCommand | TyperGroup

    @property
    def help(self) -> str:
        return " ".join((self.command.help or "").split())


@cache
def root() -> TyperGroup:
    program = get_command(build())
    if not isinstance(program, TyperGroup):
        raise TypeError("the program has no commands")
    return program


@cache
def entries() -> tuple[Entry, ...]:
    """All of them in the order of `--help`, each group before its commands."""
    return tuple(_entries(root(), PROGRAM, None))


def command_names() -> list[str]:
    """Commands that do something, by their words after the program's name."""
    return [
        entry.name.removeprefix(f"{PROGRAM} ")
        for entry in entries()
        if isinstance(entry.command, TyperCommand)
    ]


def _entries(group: TyperGroup, before: str, panel: str | None) -> Iterator[Entry]:
    for name, command in group.commands.items():
        known = isinstance(command, TyperCommand | TyperGroup)
        if not known or command.hidden:
            continue
        where = panel or command.rich_help_panel or OTHERS
        yield Entry(f"{before} {name}", where, command)
        if isinstance(command, TyperGroup):
            yield from _entries(command, f"{before} {name}", where)


def overview() -> str:
    """Every command in one line, by the panels of `--help`."""
    return table(
        ("", "command", "what it does"),
        _overview_rows(),
    )


def _overview_rows() -> Iterator[tuple[str, str, str]]:
    last = ""
    for panel in _panels():
        for entry in entries():
            if entry.panel == panel and isinstance(entry.command, TyperCommand):
                yield (
                    ("" if panel == last else panel),
                    link(code(entry.name), entry.name),
                    entry.help,
                )
                last = panel


def options_for_all() -> str:
    return table(_OPTIONS, option_rows(root(), only_panel=FOR_ALL))


def program() -> str:
    """The program itself: what may be said without a command."""
    return "\n".join(_section(Entry(PROGRAM, "", root()), {}))


def reference() -> str:
    """A section for each command, under a heading for each panel."""
    lines: list[str] = []
    known: dict[str, str] = {}
    for panel in _panels():
        lines += [f"## {panel}", ""]
        for entry in entries():
            if entry.panel == panel:
                lines += [f"### {code(entry.name)}", "", *_section(entry, known)]
    return "\n".join(lines)


def _panels() -> list[str]:
    return list(dict.fromkeys(entry.panel for entry in entries()))


def _section(entry: Entry, known: dict[str, str]) -> list[str]:
    """Usage, what it does and what it takes; a command that another one equals is only named."""
    body = "\n".join(part for part in _body(entry) if part)
    twin = known.setdefault(body, entry.name)
    if twin != entry.name:
        body = f"{entry.help} The same as {link(code(twin), twin)}.\n"
    return [fenced(" ".join((entry.name, *usage_words(entry.command)))), body]


def _body(entry: Entry) -> list[str]:
    command = entry.command
    epilog = " ".join((command.epilog or "").split())
    return [
        f"{entry.help}\n",
        "Deprecated.\n" if command.deprecated else "",
        table(("command", "what it does"), _commands(entry)),
        table(_ARGUMENTS, argument_rows(command)),
        table(_OPTIONS, option_rows(command, but_panel=FOR_ALL)),
        f"{epilog}\n" if epilog else "",
    ]


def _commands(group: Entry) -> list[tuple[str, str]]:
    """The commands of a group; the program's own are in the overview."""
    before = f"{group.name} "
    below = [e for e in entries() if e.name.startswith(before) and group.name != PROGRAM]
    return [(link(code(entry.name), entry.name), entry.help) for entry in below]
