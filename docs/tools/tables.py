"""The reference of the database, drawn from the row classes and from `columns.toml`."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import CheckConstraint, Column, Table, UniqueConstraint
from sqlalchemy.dialects import postgresql, sqlite

from backtrail.storage.connection.schema import HEAD_REVISION
from backtrail.storage.rows.tables import Base

from .markdown import code, codes, link, table

C = TypeVar("C", UniqueConstraint, CheckConstraint)
_COLUMNS = Path(__file__).with_name("columns.toml")


def revision() -> str:
    return f"Revision {code(HEAD_REVISION)}."


def overview() -> str:
    return table(
        ("table", "one row is"),
        ((link(code(t.name), t.name), _summary(t)[0]) for t in _tables()),
    )


def reference() -> str:
    """A section for each table."""
    return "\n".join(line for t in _tables() for line in _section(t))


def problems() -> list[str]:
    """Columns without a meaning, and meanings without a column."""
    known = {(t.name, c.name) for t in _tables() for c in t.columns}
    meant = {(name, column) for name, columns in _meanings().items() for column in columns}
    where = "docs/tools/columns.toml"
    return [
        *(f"{where}: {t}.{c} has no meaning" for t, c in sorted(known - meant)),
        *(f"{where}: there is no {t}.{c}" for t, c in sorted(meant - known)),
    ]


def _tables() -> list[Table]:
    return list(Base.metadata.tables.values())


@cache
def _meanings() -> dict[str, dict[str, str]]:
    return tomllib.loads(_COLUMNS.read_text("utf-8"))


def _summary(shown: Table) -> tuple[str, str]:
    """The docstring of the row class: its first paragraph, and the rest."""
    row = next(m.class_ for m in Base.registry.mappers if m.local_table is shown)
    first, _, rest = inspect.cleandoc(row.__doc__ or "").partition("\n\n")
    return " ".join(first.split()), " ".join(rest.split())


def _section(shown: Table) -> list[str]:
    first, rest = _summary(shown)
    columns = ((code(c.name), _type(c), _null(c), _meaning(shown, c)) for c in shown.columns)
    return [
        f"## {code(shown.name)}",
        "",
        *(f"{text}\n" for text in (first, rest) if text),
        table(("column", "type", "null", "meaning"), columns),
        table(("key, constraint or index", "on"), _rules(shown)),
    ]


def _meaning(shown: Table, column: Column[Any]) -> str:
    target = ", ".join(code(key.target_fullname) for key in column.foreign_keys)
    text = _meanings().get(shown.name, {}).get(column.name, "")
    return " ".join(part for part in (text, f"Refers to {target}." if target else "") if part)


def _null(column: Column[Any]) -> str:
    return "yes" if column.nullable else ""


def _type(column: Column[Any]) -> str:
    """As SQLite calls it; and as PostgreSQL does, where that differs."""
    here, there = (column.type.compile(dialect=d.dialect()) for d in (sqlite, postgresql))
    return here if here == there else f"{here}; PostgreSQL: {there}"


def _rules(shown: Table) -> Iterator[tuple[str, str]]:
    yield "primary key", codes(c.name for c in shown.primary_key.columns)
    for constraint in _by_name(shown, UniqueConstraint):
        yield f"unique {code(str(constraint.name))}", codes(c.name for c in constraint.columns)
    for constraint in _by_name(shown, CheckConstraint):
        yield f"check {code(str(constraint.name))}", code(str(constraint.sqltext))
    for index in sorted(shown.indexes, key=lambda index: str(index.name)):
        kind = "unique index" if index.unique else "index"
        yield f"{kind} {code(str(index.name))}", codes(str(c.name) for c in index.columns)


def _by_name(shown: Table, kind: type[C]) -> list[C]:
    found = [c for c in shown.constraints if isinstance(c, kind)]
    return sorted(found, key=lambda constraint: str(constraint.name))
