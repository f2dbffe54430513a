"""What all tables share: the base of the row classes, and small things that many columns need."""

from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy import CheckConstraint, MetaData, String
from sqlalchemy.orm import DeclarativeBase, MappedAsDataclass

COMMIT = String(64)


def now() -> datetime:
    return datetime.now(UTC)


def one_of(column: str, words: type[StrEnum]) -> CheckConstraint:
    values = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({values})", name=column)


class Base(MappedAsDataclass, DeclarativeBase, kw_only=True, eq=False):
    """What all rows share: named constraints, so that a migration can name them too."""

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
        }
    )
