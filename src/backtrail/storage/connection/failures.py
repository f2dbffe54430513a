"""The one place that turns a database's errors into ours, with one clear sentence each."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, SQLAlchemyError

from backtrail.domain.errors import BacktrailError, BusyError, StorageError

_DAMAGED = "is damaged"
_NOT_A_DATABASE = "is damaged or not a database"
_FULL = "cannot grow: No space left on device"
_LOCKED = "is locked by another process"
_CROWDED = "has no connection left for this process"
_UNREACHABLE = "cannot be reached"
_NOT_ACCEPTED = "cannot be opened: the user or the password is not accepted"
_ABSENT = "does not exist on its server"
_FORBIDDEN = "cannot be used: permission denied"
_GIVEN_UP = "no longer waits for this process, which did nothing for too long"
_TOO_SLOW = "did not answer within the time that its server allows"
_CONTRADICTED = "refused a change that contradicts what it holds"

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
# PostgreSQL's SQLSTATE codes; those of two or three characters are classes.
_POSTGRESQL_PROBLEMS = {
    "55P03": _LOCKED,
    "40": _LOCKED,
    "533": _CROWDED,
    "53100": _FULL,
    "08": _UNREACHABLE,
    "25P03": _GIVEN_UP,
    "57P": _UNREACHABLE,
    "57014": _TOO_SLOW,
    "28": _NOT_ACCEPTED,
    "3D": _ABSENT,
    "42501": _FORBIDDEN,
    "25006": "cannot be written: it is read-only",
    "XX": _DAMAGED,
}
# While a connection is being made PostgreSQL's driver has no code to give, only the words of the
# server. A server that speaks another language is still "cannot be reached", with its words.
_CONNECTING_PROBLEMS = {
    "too many ": _CROWDED,
    "connection slots": _CROWDED,
    "authentication failed": _NOT_ACCEPTED,
    "no password supplied": _NOT_ACCEPTED,
    "no pg_hba.conf entry": _NOT_ACCEPTED,
    'role "': _NOT_ACCEPTED,
    "does not exist": _ABSENT,
}
_BUSY = (_LOCKED, _CROWDED)
_DAMAGED_HINT = "restore it from a backup; the checkpoints themselves are in the private store"
_HINTS = {
    _LOCKED: "try again when the other process has ended",
    _CROWDED: "try again when another process has ended, or let the server take more connections",
    _FULL: "free some space and try again; what was begun is then finished or taken back",
    _DAMAGED: _DAMAGED_HINT,
    _NOT_A_DATABASE: _DAMAGED_HINT,
    _UNREACHABLE: "see that its server runs and answers; the next command repairs what was cut off",
    _NOT_ACCEPTED: "see user and password in PLAN_DATABASE_URL, PGPASSWORD or ~/.pgpass",
    _ABSENT: "createdb makes one; Backtrail makes the tables in it by itself",
    _FORBIDDEN: "its user must be allowed to make tables, and to read and write them",
    _GIVEN_UP: "try again; the next command repairs what was cut off",
    _TOO_SLOW: "try again, or raise statement_timeout for its user",
}
_HINT = "plan db status tells where it is and in what state"


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
    cause = str(original or error)
    told = problem or "cannot be used"
    if problem in (None, _UNREACHABLE):
        told += f": {_reason(cause)}"
    kind = BusyError if problem in _BUSY else StorageError
    return kind(
        f"the database {place} {told}",
        hint=_HINTS.get(problem or "", _HINT),
        details={"database": place, "cause": cause},
    )


def _problem(original: BaseException | None, error: Exception) -> str | None:
    if isinstance(original, sqlite3.Error):
        # Absent when Python itself found the fault, for example a closed connection.
        found = _by_code(_SQLITE_PROBLEMS, getattr(original, "sqlite_errorname", ""))
    elif (state := getattr(original, "sqlstate", None)) is not None:
        found = _by_code(_POSTGRESQL_PROBLEMS, str(state))
    elif isinstance(error, OperationalError):
        found = _while_connecting(str(original))
    else:
        found = None
    return _CONTRADICTED if found is None and isinstance(error, IntegrityError) else found


def _while_connecting(words: str) -> str:
    _, fatal, told = words.partition("FATAL:")
    found = [problem for part, problem in _CONNECTING_PROBLEMS.items() if part in told]
    return found[0] if fatal and found else _UNREACHABLE


def _by_code(problems: Mapping[str, str], code: str) -> str | None:
    return next((problem for start, problem in problems.items() if code.startswith(start)), None)


def _reason(cause: str) -> str:
    """The end of the first line: drivers begin with what was tried and end with what went wrong."""
    line = (cause.strip().splitlines() or ["no reason was given"])[0]
    return line.rpartition("failed: ")[2].rstrip(".")
