"""The database: where it is, and how its schema stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.cli.render.look import facts, panel, state, text
from backtrail.cli.render.report import Report
from backtrail.cli.render.shape import TEXT, itself, shape, words
from backtrail.cli.render.text import named, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from backtrail.services.database import DatabaseStatus


# Importing the enumeration would load SQLAlchemy; the documentation's check compares the two.
SCHEMA_STATE = words(("empty", "current", "outdated", "newer"), "schema_state")
DATABASE = shape("database", location=TEXT, revision=TEXT | None, head=TEXT, state=SCHEMA_STATE)
LOCATION = shape(location=TEXT.at(itself))


def database_report(status: DatabaseStatus, *, upgraded: bool = False) -> Report:
    data = DATABASE.of(status)

    def rich(_: bool) -> Iterator[RenderableType]:
        rows = (
            ("Location", text(status.location)),
            ("Revision", text(status.revision or "none")),
            ("Newest known", text(status.head)),
            ("State", state(status.state)),
        )
        yield panel("Database", facts(rows))

    return Report(
        data=data, plain=lambda: named(data.items()), rich=rich, silenced_by_quiet=upgraded
    )


def location_report(location: str) -> Report:
    return Report(data=LOCATION.of(location), plain=lambda: [safe(location)], raw=f"{location}\n")
