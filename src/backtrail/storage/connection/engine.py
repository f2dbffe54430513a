"""Opening a database; everything that differs between SQLite and PostgreSQL is here.

In its usual mode SQLite needs a file beside the database even to read it. Where that file cannot be
made nobody can be writing either, so that the database may be read as if it never changed; what a
killed command left in the log beside it is applied to a copy.
"""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event

from backtrail.domain.errors import StorageError
from backtrail.storage.connection.address import URL_HINT, database_address, database_place

_NO_ROOM = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_FULL", "SQLITE_IOERR")
_LEAST_ROOM = 1 << 16
"""SQLite's shared memory alone takes half of it."""


class _ReadOnlyConnection(sqlite3.Connection):
    """A connection that cannot write; `cause` says why."""

    cause: sqlite3.Error


def _may_be_read(error: sqlite3.Error) -> bool:
    """Whether this is a failure to write what reading needs."""
    return getattr(error, "sqlite_errorname", "").startswith(_NO_ROOM)


def _open_for_reading(
    path: Path, settings: dict[str, Any], cause: sqlite3.Error
) -> sqlite3.Connection:
    """The database as it is now; the first failure counts if this one fails as well."""
    log, cause = path.with_name(f"{path.name}-wal"), _without_room(path, cause)
    with suppress(sqlite3.Error, OSError):
        if log.exists() and log.stat().st_size:
            with tempfile.TemporaryDirectory(prefix="backtrail-look-") as place:
                copy = Path(place) / path.name
                shutil.copyfile(path, copy)
                shutil.copyfile(log, copy.with_name(log.name))
                # Once open, the copy needs no name.
                return _opened(copy, "", settings, cause)
        return _opened(path, "?immutable=1", settings, cause)
    raise cause


def _opened(
    path: Path, how: str, settings: dict[str, Any], cause: sqlite3.Error
) -> sqlite3.Connection:
    address = f"file:{quote(str(path))}{how}"
    connection = sqlite3.connect(address, uri=True, factory=_ReadOnlyConnection, **settings)
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    connection.cause = cause
    return connection


def _without_room(path: Path, error: sqlite3.Error) -> sqlite3.Error:
    """The same failure by its name, where SQLite only says that it could not write."""
    with suppress(OSError):
        place = os.statvfs(path.parent)
        if place.f_bavail * place.f_frsize < _LEAST_ROOM:
            error.sqlite_errorname = "SQLITE_FULL"
    return error


BUSY_TIMEOUT_SECONDS = 30
# Transactions are short. One that is idle for longer belongs to a process that was stopped, or to a
# machine that sleeps: it must end well before those who wait for their turn give up.
_IDLE_TIMEOUT_SECONDS = 10
_WRITER = "backtrail_writer"
# SQL_ASCII keeps bytes as they come, and ours are UTF-8.
_FIT_ENCODINGS = ("UTF8", "SQL_ASCII")
# What a URL says itself wins. Timeouts: a command must end although the network does not answer.
_POSTGRESQL_PARAMETERS = {
    "application_name": "backtrail",
    "client_encoding": "utf8",
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "tcp_user_timeout": 45_000,
}
# Whatever a living server answers late, it answers before it counts as silent.
_STATEMENT_SHARE = 0.9


def create_database_engine(url: str | Path) -> Engine:
    """An engine for a database URL, or for the SQLite file at a path."""
    address = database_address(url)
    open_with = _OPENERS.get(address.get_backend_name())
    if open_with is None:
        raise StorageError(
            f"{address.get_backend_name()!r} is not a database that Backtrail can use",
            hint=URL_HINT,
        )
    return open_with(address)


def for_reading(engine: Engine) -> Engine:
    """The same engine, whose transactions see one state and cannot write."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(postgresql_readonly=True, isolation_level="REPEATABLE READ")


def for_writing(engine: Engine, writer: str) -> Engine:
    """The same engine, whose transactions have the rows to themselves from their beginning.

    On PostgreSQL that holds among those that name the same writer: each store owns its rows, so
    that one writer per store is enough, and processes on other hosts are held off as well.
    """
    marked = engine.execution_options(**{_WRITER: writer})
    if engine.dialect.name == "sqlite":
        return marked
    # A stricter level would look at the rows as they were before the turn came.
    return marked.execution_options(isolation_level="READ COMMITTED")


def refuse_unfit(connection: Connection) -> None:
    """Refuse a new database that could not hold every name and every reason."""
    if connection.dialect.name == "sqlite":
        return
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
    if encoding not in _FIT_ENCODINGS:
        raise StorageError(
            f"the database {place_of(connection.engine)} cannot hold letters of all scripts: "
            f"its encoding is {encoding}",
            hint="make one that can: createdb --template=template0 --encoding=UTF8 NAME",
        )


def place_of(engine: Engine) -> str:
    """How messages name the database."""
    return database_place(engine.url)


def _open_postgresql(address: URL) -> Engine:
    defaults = {k: v for k, v in _POSTGRESQL_PARAMETERS.items() if k not in address.query}
    try:
        engine = create_engine(
            address.set(drivername="postgresql+psycopg"),
            # Statements prepared on the server do not survive a pooler between us and it.
            connect_args={**defaults, "prepare_threshold": None},
            # One connection is kept while git works; it may have died when it is wanted again.
            pool_pre_ping=True,
            use_native_hstore=False,
        )
    except ImportError as error:
        raise StorageError(
            "the PostgreSQL driver is not installed",
            hint="install the extra: pip install 'backtrail[postgres]'",
        ) from error
    # The driver may be missing, as it is where nobody uses a server.
    from backtrail.storage.connection.silence import connection_class

    silence = _silence(address)
    impatient = connection_class(silence)

    def connect(_dialect: object, _record: object, words: Any, settings: Any) -> object:  # noqa: ANN401
        return impatient.connect(*words, **settings)

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "begin", partial(_begin_postgresql, silence=silence))
    return engine


def _silence(address: URL) -> float:
    """How many seconds nothing may come: what the URL grants to packets, it grants to answers."""
    given = address.query.get("tcp_user_timeout", _POSTGRESQL_PARAMETERS["tcp_user_timeout"])
    try:
        milliseconds = int(str(given))
    except ValueError as error:
        raise StorageError(
            "the tcp_user_timeout of the database URL is not a number",
            hint="it is given in milliseconds, for example tcp_user_timeout=45000",
        ) from error
    return milliseconds / 1000 if milliseconds > 0 else math.inf


def _begin_postgresql(connection: Connection, *, silence: float) -> None:
    """Nobody waits for ever, and a transaction that may write waits for its turn at once."""
    limits = [
        _limited("lock_timeout", BUSY_TIMEOUT_SECONDS),
        _limited("idle_in_transaction_session_timeout", _IDLE_TIMEOUT_SECONDS),
    ]
    if silence < math.inf:
        limits.append(_limited("statement_timeout", silence * _STATEMENT_SHARE))
    first = "; ".join(limits)
    writer = connection.get_execution_options().get(_WRITER)
    if writer is not None:
        digest = hashlib.sha256(f"backtrail {writer}".encode()).digest()
        key = int.from_bytes(digest[:8], signed=True)
        first += f"; SELECT pg_advisory_xact_lock({key})"
    connection.exec_driver_sql(first)


def _limited(setting: str, seconds: float) -> str:
    """For this transaction; whoever set another limit, in the URL or for the user, meant it."""
    return (
        f"SELECT set_config('{setting}', '{round(seconds * 1000)}ms', true) "
        f"WHERE current_setting('{setting}') = '0'"
    )


def _open_sqlite(address: URL) -> Engine:
    if not address.database or address.database == ":memory:":
        raise StorageError(
            "a database in memory would forget everything when the command ends",
            hint=URL_HINT,
        )
    path = Path(address.database)
    if not path.is_absolute():
        raise StorageError(
            f"the database {path} would be another one in every directory",
            hint="give its whole path: sqlite:////PATH, with four slashes",
        )
    _create_private_file(path)
    engine = create_engine(
        address.set(drivername="sqlite"),
        # isolation_level None: BEGIN is ours to say, see _begin_sqlite.
        connect_args={"isolation_level": None, "timeout": BUSY_TIMEOUT_SECONDS},
    )
    event.listen(engine, "do_connect", _connect_sqlite)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _create_private_file(path: Path) -> None:
    """Make the file readable by its owner alone; SQLite gives its side files the same mode.

    An existing file is not opened, since closing it would drop the locks that SQLite holds on it
    for other connections of this process.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return
    except OSError as error:
        raise StorageError(
            f"the database {path} cannot be created: {error.strerror or error}",
            hint="PLAN_DATABASE_URL and PLAN_HOME say where it is to be",
        ) from error


def _connect_sqlite(
    _dialect: object, _record: object, words: tuple[str], settings: dict[str, Any]
) -> sqlite3.Connection:
    """Open it; on a read-only or full disk so that it can at least be read."""
    connection = sqlite3.connect(*words, **settings)
    try:
        connection.execute("PRAGMA schema_version")
    except sqlite3.Error as error:
        connection.close()
        if not _may_be_read(error):
            raise
        return _open_for_reading(Path(words[0]), settings, error)
    return connection


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # Damaged text must load, too: what matters then is that the row can be seen at all.
    connection.text_factory = _text
    if isinstance(connection, _ReadOnlyConnection):
        return
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")


def _begin_sqlite(connection: Connection) -> None:
    """A transaction that may write takes the write lock at once: upgrading later can fail."""
    writes = _WRITER in connection.get_execution_options()
    opened = connection.connection.dbapi_connection
    if writes and isinstance(opened, _ReadOnlyConnection):
        raise opened.cause
    connection.exec_driver_sql(f"PRAGMA query_only = {'OFF' if writes else 'ON'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_OPENERS: dict[str, Callable[[URL], Engine]] = {
    "sqlite": _open_sqlite,
    "postgresql": _open_postgresql,
    "postgres": _open_postgresql,
}
