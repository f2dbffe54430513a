"""Reports about the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.report import Report
from backtrail.cli.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from backtrail.services.database import DatabaseStatus


def database_report(status: DatabaseStatus, *, upgraded: bool = False) -> Report:
    data = {
        "location": status.location,
        "revision": status.revision,
        "head": status.head,
        "state": status.state,
    }

    def rich(verbose: bool) -> Iterator[RenderableType]:
        from backtrail.cli.render.look import facts, panel, state, text

        del verbose
        rows: list[tuple[str, RenderableType]] = [
            ("Location", text(status.location)),
            ("Revision", text(status.revision or "none")),
            ("Newest known", text(status.head)),
            ("State", state(status.state)),
        ]
        yield panel("Database", facts(rows))

    return Report(
        data=data,
        plain=lambda: (f"{name}: {safe(value or '-')}" for name, value in data.items()),
        rich=rich,
        silenced_by_quiet=upgraded,
    )


def location_report(location: str) -> Report:
    return Report(data={"location": location}, plain=lambda: [safe(location)], raw=f"{location}\n")
