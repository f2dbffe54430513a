"""Kinds of values in `plan.toml`: what each accepts, and how to say what it expected."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TypeVar, cast

from backtrail.domain.errors import UsageError
from backtrail.domain.quantities import age_in_words, parse_age, parse_size

W = TypeVar("W", bound=StrEnum)
MOST = 10**15
_LONGEST = timedelta(days=36500)
_LONGEST_TEXT = 1000
_SOME_PATTERNS = '[".env", "data/*.sqlite"]'


class WrongValueError(Exception):
    """A value that its key does not accept; with a hint of its own where there is a better one."""

    def __init__(self, hint: str | None = None) -> None:
        super().__init__(hint)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Kind:
    """`expected` goes on after "must be"; `read` raises WrongValueError or gives the value."""

    expected: str
    hint: str
    read: Callable[[object], object]
    shown: Callable[[object], object] = lambda value: value
    """The value in a form that JSON and a reader understand."""


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise WrongValueError
    return value


def _whole(value: object, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
        raise WrongValueError
    return value


def _size(value: object, least: int) -> int:
    if isinstance(value, str):
        value = _parsed(parse_size, value)
    return _whole(value, least)


def _age(value: object) -> timedelta:
    age = _parsed(parse_age, value) if isinstance(value, str) else timedelta(0)
    if not timedelta(0) < age <= _LONGEST:
        raise WrongValueError
    return age


P = TypeVar("P")


def _parsed(parse: Callable[[str], P], text: str) -> P:
    try:
        return parse(text)
    except UsageError as error:
        raise WrongValueError from error


def _texts(value: object) -> list[str]:
    if not isinstance(value, list):
        raise WrongValueError
    items = cast("list[object]", value)
    if not all(isinstance(item, str) for item in items):
        raise WrongValueError
    return cast("list[str]", items)


def _patterns(value: object) -> tuple[str, ...]:
    texts = _texts(value)
    for text in texts:
        wrong = _wrong_with_pattern(text)
        if wrong:
            raise WrongValueError(f"{text!r} {wrong}; for instance {_SOME_PATTERNS}")
    return tuple(texts)


def _wrong_with_pattern(text: str) -> str | None:
    """Why a text is no pattern that means one thing, in the words that follow it."""
    parts = text.removeprefix("/").removesuffix("/").split("/")
    # Git takes a lone backslash at the end for no pattern at all.
    lone_backslash = (len(text) - len(text.rstrip("\\"))) % 2
    reasons = {
        "names nothing": not text.strip("/ "),
        f"is longer than {_LONGEST_TEXT} characters": len(text) > _LONGEST_TEXT,
        f"begins with {text[:1]}": text[:1] in ("!", "#"),
        "has a line break or a NUL in it": not {"\0", "\n"}.isdisjoint(text),
        "has .. in it": ".." in parts,
        "has ./ or // in it": not {"", "."}.isdisjoint(parts),
        "ends with a backslash": bool(lone_backslash),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _path(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_TEXT:
        raise WrongValueError
    if any(ord(c) < ord(" ") for c in value):
        raise WrongValueError
    return value


def count(least: int) -> Kind:
    hint = f"write it without quotes, for instance {max(least, 10)}"
    return Kind(f"a whole number, {least} or more", hint, lambda v: _whole(v, least))


def size(*, least: int = 1) -> Kind:
    hint = 'a number of bytes, or text such as "100 MiB"'
    return Kind("a size", hint, lambda value: _size(value, least))


def choice(words: type[StrEnum]) -> Kind:
    def read(value: object) -> StrEnum:
        return _word(words, value)

    return Kind(f"one of {_listed(words)}", _written(words), read)


def choices(words: type[StrEnum]) -> Kind:
    def read(value: object) -> tuple[StrEnum, ...]:
        found = tuple(_word(words, text) for text in _texts(value))
        if len(set(found)) != len(found):
            raise WrongValueError
        return found

    return Kind(
        f"a list of some of {_listed(words)}, each once",
        f'for instance ["{next(iter(words))}"], or [] for none',
        read,
        lambda value: [str(word) for word in cast("tuple[StrEnum, ...]", value)],
    )


def _word(words: type[W], value: object) -> W:
    if not isinstance(value, str):
        raise WrongValueError
    if value not in set(words):
        nearest = difflib.get_close_matches(value, list(words), n=1)
        raise WrongValueError(f"the nearest one to {value!r} is {nearest[0]}" if nearest else None)
    return words(value)


def _listed(words: type[StrEnum]) -> str:
    return ", ".join(words)


def _written(words: type[StrEnum]) -> str:
    return f'write it in quotes, such as "{next(iter(words))}"'


FLAG = Kind("true or false", "write it without quotes", _flag)
AGE = Kind(
    "a span of time of at most 36500 days",
    'write it as "12h", "30d" or "2w"',
    _age,
    lambda value: None if value is None else age_in_words(cast("timedelta", value)),
)
PATTERNS = Kind(
    "a list of patterns",
    f"for instance {_SOME_PATTERNS}",
    _patterns,
    lambda value: list(cast("tuple[str, ...]", value)),
)
PATH = Kind(
    "a directory",
    'for instance "../sandboxes"; a relative one begins at the main checkout',
    _path,
    lambda value: None if value is None else str(value),
)
