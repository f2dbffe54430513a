"""Arguments and options of a command as rows of a table, and as words of its usage line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from .markdown import code, codes

Row = tuple[str, str, str]


def usage_words(command: TyperCommand | TyperGroup) -> list[str]:
    words = ["[OPTIONS]", *(_usage(argument) for argument in _arguments(command))]
    return [*words, "COMMAND", "[ARGS]..."] if isinstance(command, TyperGroup) else words


def argument_rows(command: TyperCommand | TyperGroup) -> list[tuple[str, str]]:
    return [(code(_name(a)), _meaning(a)) for a in _arguments(command)]


def option_rows(
    command: TyperCommand | TyperGroup, *, only_panel: str | None = None, but_panel: str = ""
) -> list[Row]:
    """The options of one panel of `--help`, or of all panels but one."""
    return [
        (_names(option), _value(option), _meaning(option))
        for option in command.params
        if isinstance(option, TyperOption) and not option.hidden
        if only_panel in (None, option.rich_help_panel) and option.rich_help_panel != but_panel
    ]


def _arguments(command: TyperCommand | TyperGroup) -> list[TyperArgument]:
    return [p for p in command.params if isinstance(p, TyperArgument) and not p.hidden]


def _name(argument: TyperArgument) -> str:
    return argument.metavar or argument.name.upper()


def _usage(argument: TyperArgument) -> str:
    name = _name(argument)
    if argument.required or name.startswith("["):
        # Several words that one list takes say themselves which of them may be left out.
        return name
    return f"[{name}]" + ("..." if argument.nargs != 1 and " " not in name else "")


def _names(option: TyperOption) -> str:
    spellings = [*option.opts, *option.secondary_opts]
    return codes(sorted(spellings, key=lambda name: not name.startswith("--")))


def _value(option: TyperOption) -> str:
    if option.is_flag or option.count:
        return ""
    if option.metavar:
        return code(option.metavar)
    described = option.type_descriptor
    if described.is_choice:
        return codes(_text(choice) for choice in described.choices or ())
    return code(option.bare_type().upper())


def _meaning(parameter: TyperArgument | TyperOption) -> str:
    return " ".join((" ".join((parameter.help or "").split()), *_notes(parameter))).strip()


def _notes(parameter: TyperArgument | TyperOption) -> Iterator[str]:
    least, most = parameter.min, parameter.max
    if least is not None:
        yield f"At least {least:g}."
    if most is not None:
        yield f"At most {most:g}."
    if isinstance(parameter, TyperOption) and parameter.required:
        yield "Required."
    variables = parameter.envvar
    if variables:
        yield f"Environment: {codes([variables] if isinstance(variables, str) else variables)}."
    default = _default(parameter)
    if default:
        yield f"Default: {code(default)}."


def _default(parameter: TyperArgument | TyperOption) -> str:
    if not parameter.show_default or callable(parameter.default):
        return ""
    if isinstance(parameter, TyperOption) and parameter.is_flag:
        return (parameter.opts if parameter.default else parameter.secondary_opts or [""])[0]
    return _text(parameter.default)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return " ".join(_text(part) for part in cast("Sequence[object]", value))
    return str(value)
