"""The one place that turns a database's errors into ours, with one clear sentence each."""

import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, SQLAlchemyError

from backtrail.domain.errors import BacktrailError, BusyError, StorageError

_DAMAGED = "is damaged"
_NOT_A_DATABASE = "is damaged or not a database"
_FULL = "cannot grow: the disk is full"
_LOCKED = "is locked by another process"
_UNREACHABLE = "cannot be reached"

# Extended SQLite codes such as SQLITE_IOERR_WRITE begin with the name of the plain one.
_SQLITE_PROBLEMS = {
    "SQLITE_BUSY": _LOCKED,
    "SQLITE_LOCKED": _LOCKED,
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_NOTADB": _NOT_A_DATABASE,
    "SQLITE_FULL": _FULL,
    "SQLITE_IOERR": "cannot be read or written",
    "SQLITE_READONLY": "cannot be written: it is read-only",
    "SQLITE_CANTOPEN": "cannot be opened",
    "SQLITE_PERM": "cannot be opened: permission denied",
    "SQLITE_NOMEM": "cannot be read: there is no memory left",
}
# PostgreSQL's SQLSTATE codes; those of two characters are classes.
_POSTGRESQL_PROBLEMS = {
    "55P03": _LOCKED,
    "40": _LOCKED,
    "53100": _FULL,
    "08": _UNREACHABLE,
    "57P": _UNREACHABLE,
    "28": "cannot be opened: the user or the password is not accepted",
    "3D": "does not exist on its server",
    "42501": "cannot be written: permission denied",
    "25006": "cannot be written: it is read-only",
    "XX": _DAMAGED,
}
_DAMAGED_HINT = "restore it from a backup; the checkpoints themselves are in the private store"
_HINTS = {
    _LOCKED: "try again when the other process has ended",
    _FULL: "free some space and try again; nothing was changed",
    _DAMAGED: _DAMAGED_HINT,
    _NOT_A_DATABASE: _DAMAGED_HINT,
}


@contextmanager
def translated_errors(place: str) -> Generator[None]:
    """Raise errors of the database at `place` as errors that a user can read."""
    try:
        yield
    except DBAPIError as error:
        raise _translated(place, error.orig, error) from error
    except (sqlite3.Error, SQLAlchemyError) as error:
        raise _translated(place, error, error) from error


def _translated(place: str, original: BaseException | None, error: Exception) -> BacktrailError:
    problem = _problem(original, error)
    details = {"database": place, "cause": str(original or error)}
    if problem == _LOCKED:
        return BusyError(f"the database {place} {_LOCKED}", hint=_HINTS[_LOCKED], details=details)
    if problem is None and isinstance(error, IntegrityError):
        problem = "refused a change that contradicts what it holds"
    if problem is None:
        problem = f"cannot be used: {_first_line(original or error)}"
    return StorageError(
        f"the database {place} {problem}", hint=_HINTS.get(problem), details=details
    )


def _problem(original: BaseException | None, error: Exception) -> str | None:
    if isinstance(original, sqlite3.Error):
        # Absent when Python itself found the fault, for example a closed connection.
        return _by_code(_SQLITE_PROBLEMS, getattr(original, "sqlite_errorname", ""))
    state = getattr(original, "sqlstate", None)
    if state is None and isinstance(error, OperationalError):
        return _UNREACHABLE  # the driver never got an answer
    return _by_code(_POSTGRESQL_PROBLEMS, str(state))


def _by_code(problems: Mapping[str, str], code: str) -> str | None:
    return next((problem for start, problem in problems.items() if code.startswith(start)), None)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
