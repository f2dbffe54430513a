"""Reading a SQLite database where nothing can be written: on a read-only or a full disk.

In its usual mode SQLite needs a file beside the database even to read it. Where that file cannot be
made nobody can be writing either, so that the database may be read as if it never changed; what a
killed command left in the log beside it is applied to a copy.
"""

import os
import shutil
import sqlite3
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

_NO_ROOM = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_FULL", "SQLITE_IOERR")
_LEAST_ROOM = 1 << 16
"""SQLite's shared memory alone takes half of it."""


class ReadOnlyConnection(sqlite3.Connection):
    """A connection that cannot write; `cause` says why."""

    cause: sqlite3.Error


def may_be_read(error: sqlite3.Error) -> bool:
    """Whether this is a failure to write what reading needs."""
    return getattr(error, "sqlite_errorname", "").startswith(_NO_ROOM)


def open_for_reading(
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
    connection = sqlite3.connect(address, uri=True, factory=ReadOnlyConnection, **settings)
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
