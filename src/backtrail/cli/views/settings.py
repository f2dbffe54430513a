"""Reports about `plan.toml` and what is in force."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from backtrail.cli.render.report import Report
from backtrail.cli.render.text import count, safe
from backtrail.config.effective import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from backtrail.config.effective import EffectiveSettings, Setting


_SOURCES = {Source.FILE: "green", Source.ENVIRONMENT: "yellow", Source.DEFAULT: "dim"}


def settings_report(found: EffectiveSettings) -> Report:
    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import table, text

        yield text(_about_file(found), "bold")
        rows = [
            (text(s.key), text(_value(s)), text(_origin(s), _SOURCES[s.source]), text(s.meaning))
            for s in found.settings
        ]
        columns = ("setting", "value", "from", "meaning")
        yield table(columns, rows) if verbose else table(columns[:3], [row[:3] for row in rows])

    return Report(
        data=_data(found),
        plain=lambda: (
            f"{safe(s.key)} = {safe(_value(s))} ({safe(_origin(s))})" for s in found.settings
        ),
        rich=rich,
        messages=_unread(found),
    )


def checked_report(found: EffectiveSettings) -> Report:
    """Only what is right gets here: what is wrong is an error, and told as such."""
    given = [s.key for s in found.settings if s.source is Source.FILE]
    said = _about_file(found)
    if found.found:
        said = f"{said}: nothing wrong, {count(len(given), 'setting')}"
    return Report(
        data={"file": str(found.file), "found": found.found, "settings": given},
        plain=lambda: [safe(said)],
        messages=_unread(found),
        silenced_by_quiet=True,
    )


def _data(found: EffectiveSettings) -> dict[str, Any]:
    return {
        "file": str(found.file),
        "found": found.found,
        "settings": [
            {"key": s.key, "value": s.value, "source": s.source, "origin": s.origin}
            for s in found.settings
        ],
    }


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
