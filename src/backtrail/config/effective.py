"""What is in force and why: every setting with its value and where that comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backtrail.config.file import FILE_NAME
from backtrail.config.keys import SECTIONS, TOOL, Section

if TYPE_CHECKING:
    from backtrail.config.configuration import Configuration


VARIABLES = {
    "home": ("PLAN_HOME", "Where the private store, its locks and the database are."),
    "database": ("PLAN_DATABASE_URL", "Where the rows are; its password is not shown."),
    "format": ("PLAN_FORMAT", "How commands print without `--format`: `rich`, `plain` or `json`."),
    "plan": ("PLAN_ID", "The plan that commands mean when none is named."),
}
"""What only the environment can set: the variable, and what it means."""


class Source(StrEnum):
    """Where a value comes from."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class Setting:
    """One value; `origin` is the file or the variable that gave it."""

    key: str
    value: object
    source: Source
    origin: str | None
    meaning: str


@dataclass(frozen=True, slots=True)
class EffectiveSettings:
    """All settings of a repository, those of the environment first."""

    file: Path
    found: bool
    settings: tuple[Setting, ...]
    unread: Path | None = None
    """Another `plan.toml`, in the worktree that the user is in, which does not count."""


def surroundings(environ: Mapping[str, str], *, home: Path, database: str) -> tuple[Setting, ...]:
    """What only the environment can set; secrets are already left out of `database`."""
    values = {
        "home": str(home),
        "database": database,
        "format": environ.get("PLAN_FORMAT") or None,
        "plan": environ.get("PLAN_ID") or None,
    }
    return tuple(
        Setting(key, values[key], *_from_variable(environ, variable), meaning)
        for key, (variable, meaning) in VARIABLES.items()
    )


def _from_variable(environ: Mapping[str, str], name: str) -> tuple[Source, str | None]:
    return (Source.ENVIRONMENT, name) if environ.get(name) else (Source.DEFAULT, None)


def effective_settings(
    configuration: Configuration, around: tuple[Setting, ...], *, at: Path
) -> EffectiveSettings:
    """All of it, for somebody who is in the worktree `at`."""
    other = at / FILE_NAME
    unread = other if other != configuration.file and other.exists() else None
    settings = (*around, *_settings(configuration))
    return EffectiveSettings(configuration.file, configuration.found, settings, unread)


def _settings(configuration: Configuration) -> Iterator[Setting]:
    for section in SECTIONS:
        made = getattr(configuration.settings, section.name)
        yield from _section(configuration, section, section.name, made)
    for name, tool in sorted(configuration.settings.tools.items()):
        yield from _section(configuration, TOOL, f"{TOOL.name}.{name}", tool)


def _section(
    configuration: Configuration, section: Section[Any], prefix: str, made: object
) -> Iterator[Setting]:
    for key in section.keys:
        name = f"{prefix}.{key.name}"
        value = key.kind.shown(getattr(made, key.name))
        given = name in configuration.given
        source, origin = (Source.FILE, str(configuration.file)) if given else (Source.DEFAULT, None)
        yield Setting(name, value, source, origin, key.meaning)
