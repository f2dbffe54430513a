"""Spans of time and amounts of bytes, as people write them: `30d`, `2GiB`."""

from __future__ import annotations

import re
from datetime import timedelta

from backtrail.domain.errors import UsageError

_AGE = re.compile(r"(\d{1,12}) ?([smhdw])", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_NAMES = {"d": "day", "h": "hour", "m": "minute", "s": "second"}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) ?(?:([kmgt])(i?b)?|b)?", re.IGNORECASE)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}


def parse_age(text: str) -> timedelta:
    """`90s`, `15m`, `12h`, `30d` or `2w`."""
    match = _AGE.fullmatch(text.strip())
    if match:
        try:
            return timedelta(seconds=int(match[1]) * _SECONDS[match[2].lower()])
        except OverflowError:
            match = None
    raise UsageError(f"{text!r} is not a span of time", hint="write it as 90s, 15m, 12h, 30d or 2w")


def parse_timeout(text: str) -> float:
    """Seconds, from a bare number of them or a span such as `10m`."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = parse_age(text).total_seconds()
    if not 0 < seconds < float("inf"):
        raise UsageError(f"{text!r} is not a time to wait", hint="write it as 90, 15m or 2h")
    return seconds


def parse_size(text: str) -> int:
    """`2GiB`, `2G` (the same) or `2GB` (of a thousand to the third); a bare number is bytes."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{text!r} is not an amount of bytes", hint="write it as 500MiB, 2GiB or 1048576"
        )
    base = 1000 if (match[3] or "").lower() == "b" else 1024
    return int(float(match[1]) * base ** _POWERS.get((match[2] or "").lower(), 0))


def age_in_words(age: timedelta) -> str:
    """`30 days`, `12 hours`: in the largest unit that fits without a rest."""
    seconds = round(age.total_seconds())
    unit = next(u for u in _NAMES if seconds % _SECONDS[u] == 0)
    number = seconds // _SECONDS[unit]
    return f"{number} {_NAMES[unit]}" if number == 1 else f"{number} {_NAMES[unit]}s"
