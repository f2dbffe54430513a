"""Arguments and results of steps in Python: only what JSON holds without a change is recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast


class UnrecordableError(ValueError):
    """A value that would not come back as it was."""


def to_json(value: object) -> str:
    """The value as JSON, always written the same way; raises what says why it cannot be."""
    try:
        _refuse_other_keys(value)
        return json.dumps(value, allow_nan=False, sort_keys=True, separators=(",", ":"))
    except RecursionError as error:
        raise UnrecordableError("it is nested too deeply, or holds itself") from error
    except (TypeError, ValueError) as error:
        raise UnrecordableError(str(error)) from error


def from_json(text: str) -> Any:  # noqa: ANN401 - whatever a function returned
    return json.loads(text)


def _refuse_other_keys(value: object) -> None:
    """JSON would write the number 1 and the text "1" as the same key."""
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value)
        for key, inner in items.items():
            if not isinstance(key, str):
                raise UnrecordableError(f"the key {key!r} of a mapping is not a text")
            _refuse_other_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("list[object]", value):
            _refuse_other_keys(inner)
