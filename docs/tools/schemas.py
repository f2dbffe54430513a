"""Checks of the schemas themselves: one for each command, valid, closed, described, up to date."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from backtrail.storage.connection.schema import SchemaState

from .commands import PROGRAM, command_names
from .documents import (
    COMMON,
    ENVELOPE,
    VERSION,
    Node,
    as_list,
    as_object,
    documents,
    schema_of,
)
from .exit_codes import error_words

OPEN = "Expect further keys"
"""What the description of an object says that may get keys of any name."""


def problems() -> list[str]:
    return [
        *_missing_and_orphaned(),
        *(p for name, schema in documents().items() for p in _invalid(name, schema)),
        *(p for name, schema in documents().items() for p in _open_or_silent(name, schema, name)),
        *_outdated(),
    ]


def _missing_and_orphaned() -> Iterator[str]:
    wanted = {schema_of(name) for name in command_names()} | {VERSION}
    present = set(documents()) - {COMMON, ENVELOPE}
    for name in sorted(wanted - present):
        yield f"docs/reference/schemas/{name}.json is missing: {PROGRAM} {name.replace('-', ' ')}"
    for name in sorted(present - wanted):
        yield f"docs/reference/schemas/{name}.json is the schema of no command"


def _invalid(name: str, schema: dict[str, Any]) -> Iterator[str]:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        yield f"docs/reference/schemas/{name}.json: {error.message}"


def _open_or_silent(file: str, schema: object, place: str) -> Iterator[str]:
    """Objects that are not closed, and fields that are not described."""
    pairs, parts = as_object(schema), as_list(schema)
    if pairs is not None and "type" in pairs and "properties" in pairs:
        yield from _object_problems(Node(file, pairs), place)
    for name, part in (pairs or dict(enumerate(parts or ()))).items():
        yield from _open_or_silent(file, part, f"{place}.{name}")


def _object_problems(node: Node, place: str) -> Iterator[str]:
    closed = node.schema.get("additionalProperties") is False
    if not closed and OPEN not in node.schema.get("description", ""):
        yield f"{place}: the object is open, and does not say {OPEN!r}"
    for name, field in node.fields():
        found = field.present().schema
        if not found.get("description") and not found.get("title"):
            yield f"{place}.{name}: the field is not described"


def _outdated() -> Iterator[str]:
    """Lists of words that are written out, and are not those of the program."""
    words = documents()[COMMON]["$defs"]["schema_state"]["enum"]
    yield from _different(f"{COMMON}.json, schema_state", words, list(SchemaState))
    words = documents()[ENVELOPE]["$defs"]["error_code"]["enum"]
    yield from _different(f"{ENVELOPE}.json, error_code", words, list(error_words().values()))


def _different(place: str, documented: list[Any], known: list[Any]) -> Iterator[str]:
    values = [getattr(word, "value", word) for word in known]
    if documented != values:
        yield f"docs/reference/schemas/{place}: has {documented}, the program {values}"
