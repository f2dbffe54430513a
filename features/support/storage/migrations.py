"""Two databases: one that the migrations made, and one made of the tables that the code knows."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect

from backtrail.storage.connection.engine import create_database_engine, for_writing
from backtrail.storage.connection.schema import ensure_schema
from backtrail.storage.rows.tables import Base

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

    from sqlalchemy import Engine, Inspector
    from sqlalchemy.engine.interfaces import ReflectedForeignKeyConstraint

    from support.world.world import World

LATER_KEYS = {("runs", "decision_id"), ("steps", "decision_id")}


@contextmanager
def migrated(path: Path) -> Generator[Engine]:
    """A new database as a user gets it."""
    engine = create_database_engine(path)
    try:
        ensure_schema(engine)
        yield engine
    finally:
        engine.dispose()


@contextmanager
def modelled(path: Path) -> Generator[Engine]:
    """A new database as the row classes describe it."""
    engine = create_database_engine(path)
    try:
        with for_writing(engine, "the models").begin() as connection:
            Base.metadata.create_all(connection)
        yield engine
    finally:
        engine.dispose()


def missing_migrations(engine: Engine) -> list[Any]:
    """What Alembic would write into a next revision."""
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        return list(compare_metadata(context, Base.metadata))


def take_back(world: World, revision: str) -> None:
    """Make the program's database, with the rows that it has, that of an earlier version.

    It did not know which decision was current when a run or a step began.
    """
    assert revision == "0005", "nobody knows any more what was before"
    for table in ("runs", "steps"):
        world.rows.change(f"DROP INDEX ix_{table}_decision")
        world.rows.change(f"ALTER TABLE {table} DROP COLUMN decision_id")
    assert world.rows.change("UPDATE alembic_version SET version_num = ?", revision) == 1


def described(engine: Engine) -> dict[str, dict[str, list[str]]]:
    """Every table with all that the database knows about it; Alembic's own is left out."""
    inspector = inspect(engine)
    names = set(inspector.get_table_names()) - {"alembic_version"}
    return {name: _table(inspector, name) for name in sorted(names)}


def _table(inspector: Inspector, name: str) -> dict[str, list[str]]:
    return {
        "columns": [str(column) for column in inspector.get_columns(name)],
        "primary key": [str(inspector.get_pk_constraint(name))],
        "foreign keys": _sorted(_named(name, key) for key in inspector.get_foreign_keys(name)),
        "unique": _sorted(inspector.get_unique_constraints(name)),
        "checks": _sorted(inspector.get_check_constraints(name)),
        "indexes": _sorted(inspector.get_indexes(name)),
    }


def _named(table: str, key: ReflectedForeignKeyConstraint) -> object:
    """SQLite takes a further key only together with a column, and then without a name."""
    later = (table, *key["constrained_columns"]) in LATER_KEYS
    return {**key, "name": None} if later else key


def _sorted(found: Iterable[object]) -> list[str]:
    return sorted(str(entry) for entry in found)
