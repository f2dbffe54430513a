"""The program's rows, reached without the program: on SQLite, or on the server that a run chose.

With BACKTRAIL_TEST_DATABASE=postgresql every world has a database on a real server; without it,
the file beside the private store.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from backtrail.storage.connection.engine import create_database_engine
from backtrail.storage.connection.schema import ensure_schema

Row = dict[str, Any]


class Rows(Protocol):
    """One database of the program's."""

    def environment(self) -> dict[str, str]:
        """What makes the program use it."""
        ...

    def query(self, statement: str, *values: object) -> list[Row]: ...

    def change(self, statement: str, *values: object) -> int:
        """Tamper with it; gives the number of rows that it hit."""
        ...

    def dump(self) -> str | bytes | None:
        """All that it holds, for comparing; None if it is not there."""
        ...

    def unsound(self) -> list[str]:
        """What the database itself finds wrong with itself."""
        ...

    def being_written(self) -> bool:
        """Whether somebody is in the middle of a transaction that may keep others from writing."""
        ...

    def empty(self) -> None:
        """Make it as if the program had never been run."""
        ...

    def make_schema(self) -> None:
        """Make it as if the program had been run once, if it never was."""
        ...

    def freeze(self) -> object:
        """A copy of what the world's directory does not hold, for `thaw`."""
        ...

    def thaw(self, copy: object) -> None: ...

    def drop(self) -> None: ...


def on_postgresql() -> bool:
    return os.environ.get("BACKTRAIL_TEST_DATABASE") == "postgresql"


def new_rows(file: Path) -> Rows:
    """The rows of a new world, whose own file would be this one."""
    if on_postgresql():
        from support.storage.postgresql import new_database

        return new_database()
    return SqliteRows(file)


@cache
def _database_without_rows() -> bytes:
    """Made by all migrations, once per run: for every world anew they would take a tenth of it."""
    with TemporaryDirectory(prefix="bt rows ") as place:
        file = Path(place) / "plan.db"
        engine = create_database_engine(file)
        ensure_schema(engine)
        engine.dispose()
        return file.read_bytes()


def warm_up() -> None:
    _database_without_rows()


@dataclass(frozen=True, slots=True)
class SqliteRows:
    """Rows in a file, which lies in the world's directory and is copied and removed with it."""

    file: Path
    shared: bool = False

    def environment(self) -> dict[str, str]:
        return {"PLAN_DATABASE_URL": f"sqlite:///{self.file}"} if self.shared else {}

    def query(self, statement: str, *values: object) -> list[Row]:
        with closing(sqlite3.connect(self.file, timeout=30)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(statement, values)]

    def change(self, statement: str, *values: object) -> int:
        with closing(sqlite3.connect(self.file, timeout=30)) as connection:
            hit = connection.execute(statement, values).rowcount
            connection.commit()
        return hit

    def dump(self) -> str | bytes | None:
        """Every row as text; a database that cannot be read is compared by its bytes."""
        if not self.file.exists():
            return None
        with closing(sqlite3.connect(f"{self.file.as_uri()}?mode=ro", uri=True)) as connection:
            try:
                return "\n".join(connection.iterdump())
            except sqlite3.DatabaseError:
                return self.file.read_bytes()

    def unsound(self) -> list[str]:
        answer = [str(v) for row in self.query("PRAGMA integrity_check") for v in row.values()]
        broken = self.query("PRAGMA foreign_key_check")
        return ([] if answer == ["ok"] else answer) + [f"foreign key: {row}" for row in broken]

    def being_written(self) -> bool:
        with closing(sqlite3.connect(self.file, timeout=0, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
        return False

    def empty(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self.file.with_name(self.file.name + suffix).unlink(missing_ok=True)

    def make_schema(self) -> None:
        if not self.file.exists():
            self.file.parent.mkdir(mode=0o700, exist_ok=True)
            self.file.write_bytes(_database_without_rows())

    def freeze(self) -> object:
        return None

    def thaw(self, copy: object) -> None:
        del copy

    def drop(self) -> None:
        """The file goes with the world's directory."""
