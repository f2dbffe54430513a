"""From the text of `plan.toml` to settings, with all that is wrong found at once."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from backtrail.config.file import read_document
from backtrail.config.keys import (
    APPLY,
    CAPTURE,
    RETENTION,
    ROLLBACK,
    SANDBOX,
    SECTIONS,
    STEPS,
    TOOL,
    TRIGGERS,
    S,
    Section,
)
from backtrail.config.kinds import WrongValueError
from backtrail.config.place import Place
from backtrail.domain.errors import UsageError
from backtrail.domain.settings import SandboxSettings, Settings
from backtrail.domain.tools import TOOL_NAME, ToolDeclaration

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings in force, and which of them the file gave."""

    file: Path
    settings: Settings = field(default_factory=Settings)
    found: bool = False
    given: frozenset[str] = frozenset()
    """Keys that are in the file, such as `capture.max_file_size`."""


@dataclass(frozen=True, slots=True)
class _Problem:
    key: str
    message: str
    hint: str


@dataclass(slots=True)
class _Reader:
    """Reads one document; problems are collected, so that they can all be told at once."""

    place: Place
    given: set[str] = field(default_factory=set[str])
    problems: list[_Problem] = field(default_factory=list[_Problem])

    def settings(self, document: Table) -> Settings:
        names = [*(section.name for section in SECTIONS), TOOL.name]
        self._check_names("", document, names)
        return Settings(
            retention=self._section(RETENTION, document),
            capture=self._section(CAPTURE, document),
            rollback=self._section(ROLLBACK, document),
            triggers=self._section(TRIGGERS, _with_short_triggers(document)),
            tools=self._tools(self._table(TOOL.name, document)),
            steps=self._section(STEPS, document),
            sandbox=self._rooted(self._section(SANDBOX, document)),
            apply=self._section(APPLY, document),
        )

    def _section(self, section: Section[S], document: Table) -> S:
        return self._filled(section, section.name, self._table(section.name, document))

    def _tools(self, tables: Table) -> dict[str, ToolDeclaration]:
        tools: dict[str, ToolDeclaration] = {}
        for name in tables:
            if not TOOL_NAME.fullmatch(name):
                hint = "letters, digits and _ . : / -, beginning with a letter, digit or _"
                self._wrong(f"{TOOL.name}.{name}", "cannot be the name of a tool", hint)
            else:
                prefix = f"{TOOL.name}.{name}"
                tools[name] = self._filled(TOOL, prefix, self._table(name, tables, prefix))
        return tools

    def _filled(self, section: Section[S], prefix: str, table: Table) -> S:
        """An object of the section's class; what is not in the table is as usual."""
        self._check_names(f"{prefix}.", table, [key.name for key in section.keys])
        values: dict[str, object] = {}
        for key in section.keys:
            if key.name in table:
                self.given.add(f"{prefix}.{key.name}")
                try:
                    values[key.name] = key.kind.read(table[key.name])
                except WrongValueError as wrong:
                    what = f"must be {key.kind.expected}"
                    self._wrong(f"{prefix}.{key.name}", what, wrong.hint or key.kind.hint)
        return section.made(**values)

    def _rooted(self, sandbox: SandboxSettings) -> SandboxSettings:
        """The directory of sandboxes as an absolute path, which may not be git's own."""
        if sandbox.root is None:
            return sandbox
        root = _absolute(self.place, str(sandbox.root))
        if root is None:
            self._wrong("sandbox.root", "begins with ~, and HOME is not set", "name it in full")
            return sandbox
        if root.is_relative_to(self.place.git_dir):
            self._wrong(
                "sandbox.root", "cannot be inside the git directory", "choose a directory outside"
            )
        return replace(sandbox, root=root)

    def _table(self, name: str, document: Table, key: str | None = None) -> Table:
        found = document.get(name, {})
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
        self._wrong(key or name, "must be a section", f"write [{key or name}]")
        return {}

    def _check_names(self, prefix: str, table: Table, known: Iterable[str]) -> None:
        for name in table:
            if name not in known:
                nearest = difflib.get_close_matches(name, list(known), n=1, cutoff=0.0)[0]
                hint = f"the nearest one is {prefix}{nearest}"
                self._wrong(f"{prefix}{name}", "is not a setting", hint)

    def _wrong(self, key: str, what: str, hint: str) -> None:
        self.problems.append(_Problem(key, f"{key} {what}", hint))


def read_configuration(place: Place) -> Configuration:
    """The configuration of a repository; raises if anything in it is wrong."""
    document = read_document(place.file)
    if document is None:
        return Configuration(place.file)
    reader = _Reader(place)
    settings = reader.settings(document)
    if reader.problems:
        raise _error(place.file, reader.problems)
    return Configuration(place.file, settings, found=True, given=frozenset(reader.given))


def _error(file: Path, problems: list[_Problem]) -> UsageError:
    first, *more = problems
    details: dict[str, Any] = {"file": str(file), "key": first.key}
    if more:
        details["also"] = [f"{problem.message} ({problem.hint})" for problem in more]
    return UsageError(f"{str(file)!r}: {first.message}", hint=first.hint, details=details)


def _with_short_triggers(document: Table) -> Table:
    """`triggers = []` stands for the section with nothing but that list."""
    found = document.get(TRIGGERS.name)
    return {TRIGGERS.name: {"enabled": found}} if isinstance(found, list) else document


def _absolute(place: Place, text: str) -> Path | None:
    if text == "~" or text.startswith("~/"):
        if not place.home:
            return None
        text = place.home + text[1:]
    return Path(os.path.realpath(place.directory / text))
