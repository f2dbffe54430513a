"""Finding ids by their beginning, with a range that the primary key's index serves."""

import re

from sqlalchemy import ColumnElement, false
from sqlalchemy.orm import InstrumentedAttribute

from backtrail.domain.reference import ULID_LENGTH

_PREFIX = re.compile(rf"[0-9A-Z]{{1,{ULID_LENGTH}}}")


def starts_with(column: InstrumentedAttribute[str], prefix: str) -> ColumnElement[bool]:
    """Whether an id begins with the prefix, in either case.

    LIKE would not use the index on either database; a range of full-length ids does.
    """
    prefix = prefix.upper()
    if not _PREFIX.fullmatch(prefix):
        return false()
    return column.between(prefix.ljust(ULID_LENGTH, "0"), prefix.ljust(ULID_LENGTH, "Z"))
