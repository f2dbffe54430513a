"""The schema's version: looked at with one query, upgraded by Alembic only when it is behind."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from backtrail.domain.errors import StorageError
from backtrail.storage.engine import for_reading, for_writing, place_of
from backtrail.storage.failures import translated_errors

HEAD_REVISION = "0001"
_VERSION_TABLE = "alembic_version"


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
        revision = _stored_revision(connection, place_of(engine))
    return SchemaStatus(revision, HEAD_REVISION, _state_of(revision))


def ensure_schema(engine: Engine, lock: Callable[[], AbstractContextManager[object]]) -> None:
    """Bring the schema to head; `lock` keeps other processes from doing so at the same time."""
    if _is_current(engine):
        return
    with lock():
        if not _is_current(engine):
            _upgrade(engine)


def migrations_directory() -> Path:
    """The packaged migrations, else those of the checkout."""
    here = Path(__file__).resolve()
    for candidate in (here.parents[1] / "migrations", here.parents[3] / "migrations"):
        if (candidate / "env.py").is_file():
            return candidate
    raise StorageError(
        "this installation lacks its database migrations", hint="install backtrail again"
    )


def _is_current(engine: Engine) -> bool:
    status = schema_status(engine)
    if status.state is SchemaState.NEWER:
        raise StorageError(
            f"the database {place_of(engine)} was made by a newer version of Backtrail "
            f"(revision {status.revision}, this one knows {HEAD_REVISION})",
            hint="upgrade backtrail",
        )
    return status.state is SchemaState.CURRENT


def _stored_revision(connection: Connection, place: str) -> str | None:
    tables = inspect(connection).get_table_names()
    if _VERSION_TABLE in tables:
        return connection.scalar(text(f"SELECT version_num FROM {_VERSION_TABLE}"))  # noqa: S608
    if tables:
        raise StorageError(
            f"the database {place} belongs to another program",
            hint="give Backtrail a database of its own",
        )
    return None


def _state_of(revision: str | None) -> SchemaState:
    if revision is None:
        return SchemaState.EMPTY
    if revision == HEAD_REVISION:
        return SchemaState.CURRENT
    # File names tell, so that looking does not need Alembic, which is slow to import.
    versions = migrations_directory() / "versions"
    known = {path.name.partition("_")[0] for path in versions.glob("*.py")}
    return SchemaState.OUTDATED if revision in known else SchemaState.NEWER


def _upgrade(engine: Engine) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    # The value is interpolated, so that a percent sign in the path would be read as a variable.
    location = str(migrations_directory()).replace("%", "%%")
    config.set_main_option("script_location", location)
    with translated_errors(place_of(engine)), for_writing(engine).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
