"""The schema's version: looked at with one query, upgraded by Alembic only when it is behind."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sqlalchemy import Connection, Engine, String, column, inspect, select, table

from backtrail.domain.errors import StorageError
from backtrail.storage.connection.engine import for_reading, for_writing, place_of, refuse_unfit
from backtrail.storage.connection.failures import translated_errors

HEAD_REVISION = "0006"
# Revisions before the first were never released; of the last of them it is known what it lacks.
_FIRST_REVISION = "0006"
_LAST_UNRELEASED = "0005"
_VERSIONS = table("alembic_version", column("version_num", String))
# Other programs use Alembic, too, and number their revisions alike: this table tells them apart.
_OWN_TABLE = "checkpoint_metadata"
_UPGRADING = "schema"
_ASKED = 50
_REVISION = re.compile(r"[0-9]{4}")


class SchemaState(StrEnum):
    """How a database's schema compares with the one that this program needs."""

    EMPTY = "empty"
    CURRENT = "current"
    OUTDATED = "outdated"
    NEWER = "newer"


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """Which revision a database has, and which one it should have."""

    revision: str | None
    head: str
    state: SchemaState


def schema_status(engine: Engine) -> SchemaStatus:
    """Where the schema stands; a database of another program is a StorageError."""
    with translated_errors(place_of(engine)), for_reading(engine).connect() as connection:
        return _status(connection)


def ensure_schema(engine: Engine, *, in_use: Callable[[], bool] = lambda: False) -> None:
    """Bring the schema to head; of several processes one does so and the others wait for it.

    If it is in use elsewhere, a database without tables is not the one that it is used with.
    """
    found = schema_status(engine)
    if _is_current(engine, found):
        return
    if found.state is SchemaState.EMPTY and in_use():
        raise StorageError(
            f"the database {place_of(engine)} is empty, and this repository has checkpoints: "
            "their rows are elsewhere, or lost",
            hint="restore it from a backup, or let PLAN_DATABASE_URL say where the rows are; "
            "plan db upgrade begins anew without them",
        )
    upgrading = for_writing(engine, _UPGRADING)
    with translated_errors(place_of(engine)), upgrading.begin() as connection:
        # Another process may have done it while this one waited for its turn.
        found = _status(connection)
        if not _is_current(engine, found):
            _upgrade(connection, found.revision)


def store_of_sandboxes(engine: Engine, sandboxes: Sequence[str]) -> str | None:
    """The store that these sandboxes' rows are marked with, if they agree."""
    from backtrail.storage.rows.tables import SandboxRow

    query = select(SandboxRow.store_id).where(SandboxRow.sandbox_id.in_(sandboxes[:_ASKED]))
    with translated_errors(place_of(engine)), for_reading(engine).connect() as connection:
        found = set(connection.scalars(query))
    return found.pop() if len(found) == 1 else None


def migrations_directory() -> Path:
    """The packaged migrations, else those of the checkout."""
    here = Path(__file__).resolve()
    for candidate in (here.parents[2] / "migrations", here.parents[4] / "migrations"):
        if (candidate / "env.py").is_file():
            return candidate
    raise StorageError(
        "this installation lacks its database migrations", hint="install backtrail again"
    )


def _is_current(engine: Engine, status: SchemaStatus) -> bool:
    if status.state is SchemaState.NEWER:
        raise StorageError(
            f"the database {place_of(engine)} was made by a newer version of Backtrail "
            f"(revision {status.revision}, this one knows {HEAD_REVISION})",
            hint="upgrade backtrail",
        )
    return status.state is SchemaState.CURRENT


def _status(connection: Connection) -> SchemaStatus:
    revision = _stored_revision(connection)
    return SchemaStatus(revision, HEAD_REVISION, _state_of(revision))


def _stored_revision(connection: Connection) -> str | None:
    tables = inspect(connection).get_table_names()
    if {_VERSIONS.name, _OWN_TABLE} <= set(tables):
        found = connection.scalar(select(_VERSIONS.c.version_num))
        if not _REVISION.fullmatch(str(found)):
            raise StorageError(
                f"the database {place_of(connection.engine)} is damaged: its {_VERSIONS.name} is "
                f"{found!r}, which no version of Backtrail has written",
                hint="restore it from a backup",
            )
        return str(found)
    if tables:
        raise StorageError(
            f"the database {place_of(connection.engine)} belongs to another program",
            hint="give Backtrail a database of its own",
        )
    return None


def _state_of(revision: str | None) -> SchemaState:
    if revision is None:
        return SchemaState.EMPTY
    if revision == HEAD_REVISION:
        return SchemaState.CURRENT
    # They are numbered, so that looking does not need Alembic, which is slow to import.
    return SchemaState.OUTDATED if revision < HEAD_REVISION else SchemaState.NEWER


def _upgrade(connection: Connection, revision: str | None) -> None:
    from alembic import command
    from alembic.config import Config

    if revision is not None and revision < _FIRST_REVISION:
        _forget(connection, revision)
    config = Config()
    # The value is interpolated, so that a percent sign in the path would be read as a variable.
    location = str(migrations_directory()).replace("%", "%%")
    config.set_main_option("script_location", location)
    refuse_unfit(connection)
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _forget(connection: Connection, revision: str) -> None:
    """Let the first revision find the tables there are: it makes what they lack."""
    if revision != _LAST_UNRELEASED:
        raise StorageError(
            f"the database {place_of(connection.engine)} was made by a version of Backtrail that "
            f"was never released (revision {revision}), and cannot be upgraded",
            hint="restore a newer one from a backup; "
            "the checkpoints themselves are in the private store",
        )
    connection.execute(_VERSIONS.delete())
