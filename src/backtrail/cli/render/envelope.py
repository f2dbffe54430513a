"""The one JSON document that every outcome is written as."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from backtrail.cli.render.report import Failure, Report
from backtrail.cli.render.text import timestamp, well_formed

if TYPE_CHECKING:
    from collections.abc import Sequence


SCHEMA_VERSION = 1


def envelope(
    outcome: Report | Failure,
    *,
    command: str | None,
    started: datetime,
    duration_ms: int,
    messages: Sequence[str],
) -> str:
    """The whole document, as text that UTF-8 can hold, with its line end."""
    failed = isinstance(outcome, Failure)
    document = {
        "schema_version": SCHEMA_VERSION,
        "command": command,
        "status": "error" if failed else "ok",
        "exit_code": int(outcome.exit_code),
        "data": outcome.data,
        "error": _error(outcome) if failed else None,
        "timing": {"started": started, "duration_ms": duration_ms},
        "messages": list(messages),
    }
    return json.dumps(_plain_values(document), ensure_ascii=False, indent=2) + "\n"


def _error(failure: Failure) -> dict[str, Any]:
    return {
        "code": failure.code,
        "message": failure.message,
        "hint": failure.hint,
        "details": failure.details,
    }


def _plain_values(value: object) -> object:
    """The same value in terms that JSON knows; what it does not know is written as text."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return {well_formed(str(key)): _plain_values(item) for key, item in pairs}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain_values(item) for item in cast("Sequence[object]", value)]
    return well_formed(str(value))
