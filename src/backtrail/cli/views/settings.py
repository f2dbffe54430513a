"""`plan.toml` and what is in force."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from backtrail.cli.render.look import table, text
from backtrail.cli.render.report import Report
from backtrail.cli.render.shape import FLAG, TEXT, Kind, listed, shape, words
from backtrail.cli.render.text import count, safe
from backtrail.config.effective import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from backtrail.config.effective import EffectiveSettings, Setting


_SOURCES = {Source.FILE: "green", Source.ENVIRONMENT: "yellow", Source.DEFAULT: "dim"}
_ANY = Kind(
    schema={
        "type": ["string", "integer", "boolean", "array", "null"],
        "items": {"type": "string"},
    }
)
SETTINGS = shape(
    file=TEXT,
    found=FLAG,
    settings=listed(shape(key=TEXT, value=_ANY, source=words(Source), origin=TEXT | None)),
)


def _given(found: EffectiveSettings) -> list[str]:
    return [s.key for s in found.settings if s.source is Source.FILE]


CHECKED = shape(
    file=TEXT,
    found=FLAG,
    settings=listed(TEXT).at(_given),
)


def settings_report(found: EffectiveSettings) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        yield text(_about_file(found), "bold")
        rows = [
            (text(s.key), text(_value(s)), text(_origin(s), _SOURCES[s.source]), text(s.meaning))
            for s in found.settings
        ]
        columns = ("setting", "value", "from", "meaning")
        yield table(columns, rows) if verbose else table(columns[:3], [row[:3] for row in rows])

    return Report(
        data=SETTINGS.of(found),
        plain=lambda: (
            f"{safe(s.key)} = {safe(_value(s))} ({safe(_origin(s))})" for s in found.settings
        ),
        rich=rich,
        messages=_unread(found),
    )


def checked_report(found: EffectiveSettings) -> Report:
    """Only what is right gets here: what is wrong is an error, and told as such."""
    said = _about_file(found)
    if found.found:
        said = f"{said}: nothing wrong, {count(len(_given(found)), 'setting')}"
    return Report(
        data=CHECKED.of(found),
        plain=lambda: [safe(said)],
        messages=_unread(found),
        silenced_by_quiet=True,
    )


def _about_file(found: EffectiveSettings) -> str:
    return str(found.file) if found.found else f"there is no {found.file}"


def _value(setting: Setting) -> str:
    """As it would be written in the file."""
    return "-" if setting.value is None else json.dumps(setting.value, ensure_ascii=False)


def _origin(setting: Setting) -> str:
    if setting.source is Source.FILE:
        return "plan.toml"
    return setting.origin or setting.source


def _unread(found: EffectiveSettings) -> tuple[str, ...]:
    if found.unread is None:
        return ()
    return (f"{found.unread} is not read: only {found.file} counts",)
