"""Opening a database; everything that differs between SQLite and PostgreSQL is here."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from backtrail.domain.errors import StorageError

BUSY_TIMEOUT_SECONDS = 30
_WRITES = "backtrail_writes"
_URL_HINT = "use sqlite:///PATH or postgresql+psycopg://USER@HOST/NAME"


def create_database_engine(url: str | Path) -> Engine:
    """An engine for a database URL, or for the SQLite file at a path."""
    parsed = _parsed(url)
    open_with = _OPENERS.get(parsed.get_backend_name())
    if open_with is None:
        raise StorageError(
            f"{parsed.get_backend_name()!r} is not a database that Backtrail can use",
            hint=_URL_HINT,
        )
    return open_with(parsed)


def database_files(url: str | Path) -> tuple[Path, ...]:
    """The file of a SQLite database; a server's database has none here."""
    found = _parsed(url)
    return (
        (Path(found.database),) if found.get_backend_name() == "sqlite" and found.database else ()
    )


def for_reading(engine: Engine) -> Engine:
    """The same engine, whose transactions see one state and cannot write."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(postgresql_readonly=True, isolation_level="REPEATABLE READ")


def for_writing(engine: Engine) -> Engine:
    """The same engine, whose transactions hold SQLite's write lock from their beginning."""
    return engine.execution_options(**{_WRITES: True})


def place_of(engine: Engine) -> str:
    """How messages name the database: the file's path, or the URL without its password."""
    if engine.dialect.name == "sqlite" and engine.url.database:
        return engine.url.database
    return engine.url.render_as_string(hide_password=True)


def _parsed(url: str | Path) -> URL:
    if isinstance(url, Path):
        return URL.create("sqlite", database=str(url))
    try:
        return make_url(url)
    except ArgumentError as error:
        # The text is not repeated: it may hold a password.
        raise StorageError(
            "the database URL cannot be read",
            hint=_URL_HINT,
        ) from error


def _open_postgresql(url: URL) -> Engine:
    try:
        return create_engine(url.set(drivername="postgresql+psycopg"))
    except ImportError as error:
        raise StorageError(
            "the PostgreSQL driver is not installed",
            hint="install the extra: pip install 'backtrail[postgres]'",
        ) from error


def _open_sqlite(url: URL) -> Engine:
    if not url.database or url.database == ":memory:":
        raise StorageError(
            "a database in memory would forget everything when the command ends",
            hint=_URL_HINT,
        )
    _create_private_file(Path(url.database))
    engine = create_engine(
        url.set(drivername="sqlite"),
        # isolation_level None: BEGIN is ours to say, see _begin.
        connect_args={"isolation_level": None, "timeout": BUSY_TIMEOUT_SECONDS},
    )
    event.listen(engine, "connect", _prepare_connection)
    event.listen(engine, "begin", _begin)
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
            f"the database {path} cannot be created: {error.strerror or error}"
        ) from error


def _prepare_connection(connection: sqlite3.Connection, _record: object) -> None:
    # Damaged text must load, too: what matters then is that the row can be seen at all.
    connection.text_factory = _text
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")


def _begin(connection: Connection) -> None:
    """A transaction that may write takes the write lock at once: upgrading later can fail."""
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql(f"PRAGMA query_only = {'OFF' if writes else 'ON'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_OPENERS: dict[str, Callable[[URL], Engine]] = {
    "sqlite": _open_sqlite,
    "postgresql": _open_postgresql,
}
