"""Text of users and file names made safe for a terminal, and small things people like to read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

# Control characters could move the cursor or forge lines, direction marks could reorder what is
# read, and lone surrogates (bytes of a file name that are not UTF-8) could not be encoded.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL_IN_PATCH = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_SPANS = ((86400, "day"), (3600, "hour"), (60, "minute"))


def safe(text: object) -> str:
    """One line of printable text, whatever it was made of."""
    return _UNSAFE.sub(_escaped, str(text))


def plain(value: object) -> str:
    """A value as scripts read it: `yes` and `no`, UTC, JSON for what has parts, `-` for nothing."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return timestamp(value)
    return safe(readable(value))


def readable(value: object) -> object:
    """Lists and maps as JSON has them, which more people read than Python's own form."""
    return json.dumps(value) if isinstance(value, (dict, list)) else value


def named(facts: Iterable[tuple[str, object]]) -> Iterator[str]:
    """A line for each fact."""
    return (f"{name}: {plain(value)}" for name, value in facts)


def columns(*values: object) -> str:
    """A line of a table."""
    return "\t".join(map(plain, values))


def safe_lines(text: str) -> str:
    """Text of many lines that may be shown on a terminal; only line ends and tabs stay."""
    return _CONTROL_IN_PATCH.sub(_escaped, text)


def well_formed(text: str) -> str:
    r"""Text that UTF-8 can hold: a byte that was not UTF-8 is written `\xNN`.

    JSON could carry it as a lone surrogate, without loss; but strict readers refuse those and
    others replace them silently. `\xNN` reads the same everywhere and can be mistaken only for a
    file name that has this very backslash in it.
    """
    return _SURROGATE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return rf"\x{code - 0xDC00:02x}"
    if character in _NAMED:
        return _NAMED[character]
    return rf"\x{code:02x}" if code < 0x100 else rf"\u{code:04x}"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size(number: int | None) -> str:
    if number is None:
        return "-"
    amount = float(number)
    for unit in _UNITS:
        if amount < 1024 or unit == _UNITS[-1]:
            return f"{number} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    raise AssertionError


def timestamp(moment: datetime) -> str:
    """A moment as machines like it: UTC, ISO 8601."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def ago(moment: datetime, now: datetime | None = None) -> str:
    """A moment as people like it."""
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    if seconds >= 7 * 86400:
        return f"{moment.astimezone():%Y-%m-%d %H:%M}"
    for span, noun in _SPANS:
        if seconds >= span:
            return f"{count(int(seconds // span), noun)} ago"
    return "just now"
