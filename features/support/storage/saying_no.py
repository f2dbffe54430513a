"""Ways in which a PostgreSQL server says no, each as a user's URL, by the words of scenarios."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg

from support.storage.postgresql import PASSWORD, PostgresqlRows, administer, server

if TYPE_CHECKING:
    from collections.abc import Callable

Context = Any
_numbers = itertools.count(1)
_SHORT_WAIT = "&options=-clock_timeout%3D300ms"


def _role(rights: str) -> str:
    name = f"user_{next(_numbers)}"
    administer(f"CREATE ROLE {name} LOGIN {rights}")
    return name


def _careful(rights: str = "") -> str:
    """A user who has to give a password."""
    name = _role(rights)
    administer("DROP ROLE IF EXISTS careful")
    administer(f"CREATE ROLE careful ROLE {name}")
    return name


def _with_password(user: str) -> str:
    return f"{user}:{quote(PASSWORD, safe='')}"


def _rows(context: Context) -> PostgresqlRows:
    found = context.world.rows
    assert isinstance(found, PostgresqlRows)
    return found


def wrong_password(context: Context) -> str:
    return _rows(context).url(_with_password(_careful("PASSWORD 'another'")))


def no_password(context: Context) -> str:
    return _rows(context).url(_careful("PASSWORD 'another'"))


def no_such_user(context: Context) -> str:
    return _rows(context).url(_with_password("nobody"))


def no_such_database(context: Context) -> str:
    del context
    return PostgresqlRows("nosuch").url(_with_password("postgres"))


def nothing_to_read(context: Context) -> str:
    return _rows(context).url(_with_password(_role("")))


def nothing_to_write(context: Context) -> str:
    user = _role("")
    _rows(context).change(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {user}")
    return _rows(context).url(_with_password(user))


def connections_taken(context: Context) -> str:
    return _rows(context).url(_with_password(_role("CONNECTION LIMIT 0")))


def somebody_writes(context: Context) -> str:
    _hold(context, "LOCK TABLE checkpoint_metadata IN SHARE MODE")
    return _rows(context).url(_with_password("postgres")) + _SHORT_WAIT


def somebody_rebuilds(context: Context) -> str:
    _hold(context, "LOCK TABLE plans IN ACCESS EXCLUSIVE MODE")
    return _rows(context).url(_with_password("postgres")) + _SHORT_WAIT


def too_slow(context: Context) -> str:
    _hold(context, "LOCK TABLE checkpoint_metadata IN SHARE MODE")
    user = _role("SUPERUSER")
    administer(f"ALTER ROLE {user} SET statement_timeout = '500ms'")
    return _rows(context).url(_with_password(user))


def _hold(context: Context, statement: str) -> None:
    """Hold a lock in a transaction of its own, until `context.holder` is closed."""
    holder = psycopg.connect(server().get_uri(_rows(context).name))
    holder.execute(statement.encode())
    context.holder.push(holder)


def no_tables(context: Context) -> str:
    _rows(context).empty()
    return nothing_to_read(context)


def owner(context: Context) -> str:
    return _of_its_own(context, "")


def owner_of_few_letters(context: Context) -> str:
    return _of_its_own(context, "TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")


def _of_its_own(context: Context, how: str) -> str:
    user = _careful(f"PASSWORD '{PASSWORD}'")
    rows = PostgresqlRows(f"of_{user}")
    administer(f"CREATE DATABASE {rows.name} OWNER {user} {how}")
    context.url_rows = rows
    context.add_cleanup(rows.drop)
    return rows.url(_with_password(user))


WAYS: dict[str, Callable[[Context], str]] = {
    "the password is wrong": wrong_password,
    "no password is given": no_password,
    "the server has no such user": no_such_user,
    "the server has no such database": no_such_database,
    "there is nothing to be read": nothing_to_read,
    "there is nothing to be written": nothing_to_write,
    "statements take too long": too_slow,
    "all connections are taken": connections_taken,
    "somebody else writes": somebody_writes,
    "somebody else rebuilds a table": somebody_rebuilds,
    "may not make tables": no_tables,
    "owns a database and has a password": owner,
    "has a database with the encoding LATIN1": owner_of_few_letters,
}
