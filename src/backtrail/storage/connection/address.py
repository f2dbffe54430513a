"""Where a database is: reading its URL, and saying the place without what is secret in it."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from backtrail.domain.errors import StorageError

URL_HINT = "use sqlite:////PATH or postgresql+psycopg://USER@HOST/NAME"
# A URL may hold passwords and keys under many names: what may be shown is listed, not what not.
_SHOWN_PARAMETERS = ("host", "hostaddr", "port")


def database_address(url: str | Path) -> URL:
    """A database URL taken apart; a path is that of a SQLite file."""
    if isinstance(url, Path):
        return URL.create("sqlite", database=str(url))
    try:
        address = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise _unreadable(URL_HINT) from error
    if not _is_sqlite(address):
        _check_server(url, address)
    return address


def database_files(url: str | Path) -> tuple[Path, ...]:
    """The file of a SQLite database; a server's database has none here."""
    address = database_address(url)
    return (Path(address.database),) if _is_sqlite(address) and address.database else ()


def database_place(address: URL) -> str:
    """How people are told of the database: the file's path, or the URL without its secrets."""
    if _is_sqlite(address) and address.database:
        return address.database
    shown = URL.create(
        address.drivername,
        username=address.username,
        host=address.host,
        port=address.port,
        database=address.database,
        query={k: v for k, v in address.query.items() if k in _SHOWN_PARAMETERS},
    )
    return shown.render_as_string()


def _check_server(url: str, address: URL) -> None:
    if "@" in f"{address.host}{address.database}":
        # The rest of a password would be taken for the host, and be shown.
        raise _unreadable("write an @ in the password as %40, and a / as %2F")
    if any("\ud800" <= letter <= "\udfff" for letter in url):
        raise _unreadable("write what is not UTF-8 as %XX")


def _is_sqlite(address: URL) -> bool:
    return address.get_backend_name() == "sqlite"


def _unreadable(hint: str) -> StorageError:
    # The text is not repeated: it may hold a password.
    return StorageError("the database URL cannot be read", hint=hint)
