"""Column types that hold the same value on SQLite and PostgreSQL, whatever bytes a user gave."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar, cast

from sqlalchemy import DateTime, Dialect, String, Text
from sqlalchemy.types import TypeDecorator

from backtrail.domain.errors import StorageError

WordT = TypeVar("WordT", bound=StrEnum)
_UNSTORABLE = re.compile("[\\\\\0\ud800-\udfff]")
_WRITTEN_OUT = re.compile(r"\\\\|\\u[0-9a-f]{4}")


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime, in UTC; SQLite has no time zones, so they are taken off and put back."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        del dialect
        if value is not None and value.tzinfo is None:
            raise ValueError("a time without a time zone cannot be stored")
        return value and value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Word(TypeDecorator[WordT], Generic[WordT]):
    """A member of a StrEnum, stored as its value."""

    impl = String(16)
    cache_ok = True

    def __init__(self, words: type[WordT]) -> None:
        super().__init__()
        self.words = words

    def process_bind_param(self, value: WordT | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else self.words(value).value

    def process_result_value(self, value: str | None, dialect: Dialect) -> WordT | None:
        del dialect
        try:
            return None if value is None else self.words(value)
        except ValueError as error:
            raise StorageError(
                f"the database holds the {self.words.__name__} {value!r}, unknown to this version",
                hint="upgrade backtrail if a newer version wrote it",
            ) from error


_UNSAFE = re.compile("[\0\ud800-\udfff]")


def _escaped(code: int) -> str:
    # Such a surrogate stands for a byte that was not UTF-8.
    byte = code - 0xDC00 if 0xDC80 <= code <= 0xDCFF else code
    return rf"\x{byte:02x}" if byte < 0x100 else rf"\u{byte:04x}"


class SafeText(TypeDecorator[str]):
    r"""Text that people gave: a byte that is not UTF-8 is written out, as in `\xff`."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        if value is None:
            return None
        # PostgreSQL refuses NUL, which UTF-8 allows.
        return _UNSAFE.sub(lambda found: _escaped(ord(found[0])), value)


class Ulid(SafeText):
    """An id of ours, ordered by its letters: languages differ in where they put a Y or a CH."""

    impl = String(26).with_variant(String(26, collation="C"), "postgresql")
    cache_ok = True


class FilePath(TypeDecorator[str]):
    """A path that comes back exactly, also one whose bytes are not UTF-8."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        # A JSON string begins with a quotation mark, which no absolute path does.
        return value if value is None or _is_utf8(value) else json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return json.loads(value) if value is not None and value.startswith('"') else value


class ExactText(TypeDecorator[str]):
    r"""Text that people gave and that must come back exactly, so that no two are ever the same.

    A backslash is doubled; NUL and what UTF-8 cannot hold are written out, as in `\u0000`.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return value and _UNSTORABLE.sub(_written_out, value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return value and _WRITTEN_OUT.sub(lambda found: _meant(found[0]), value)


class JsonObject(TypeDecorator[Mapping[str, Any]]):
    """A JSON object in plain text that always loads, also when somebody damaged it."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Mapping[str, Any] | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else json.dumps(dict(value))

    def process_result_value(self, value: object, dialect: Dialect) -> Mapping[str, Any] | None:
        del dialect
        if value is None:
            return None
        loaded = _loads(value)
        if isinstance(loaded, dict):
            return cast("dict[str, Any]", loaded)
        # The text is kept, so that writing the row again loses nothing.
        return {"corrupt": True, "text": str(value)}


class JsonStrings(TypeDecorator[tuple[str, ...]]):
    """A list of strings as JSON in plain text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: tuple[str, ...] | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else json.dumps(list(value))

    def process_result_value(self, value: object, dialect: Dialect) -> tuple[str, ...] | None:
        del dialect
        if value is None:
            return None
        loaded = _loads(value)
        if not isinstance(loaded, list):
            raise StorageError(f"the database holds a damaged list of names: {str(value)[:80]!r}")
        return tuple(str(item) for item in cast("list[Any]", loaded))


def _loads(value: object) -> object:
    try:
        # SQLite lets any column hold a value of any type.
        return json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return None


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _written_out(found: re.Match[str]) -> str:
    character = found[0]
    return r"\\" if character == "\\" else rf"\u{ord(character):04x}"


def _meant(written: str) -> str:
    return "\\" if written == r"\\" else chr(int(written.removeprefix(r"\u"), 16))
