"""The JSON Schemas, and how one of their nodes is read: references followed, null set aside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from .pages import ROOT

SCHEMAS = ROOT / "docs" / "reference" / "schemas"
ENVELOPE, COMMON = "envelope", "common"
VERSION = "version"
_NULL = {"type": "null"}
_CHOICES = ("anyOf", "oneOf")


def as_object(value: object) -> dict[str, Any] | None:
    """The value if it is a JSON object."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def as_list(value: object) -> list[Any] | None:
    return cast("list[Any]", value) if isinstance(value, list) else None


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a schema, and the document that it stands in."""

    document: str
    schema: dict[str, Any]
    name: str | None = None
    """The definition that a reference led to."""

    def resolved(self) -> Node:
        """The node that this one refers to in the end, under its own description."""
        reference: str | None = self.schema.get("$ref")
        if reference is None:
            return self
        place, _, pointer = reference.partition("#")
        found = Node(place.removesuffix(".json") or self.document, {})
        schema: Any = documents()[found.document]
        name = None
        for part in pointer.split("/")[1:]:
            schema, name = schema[part], part
        inner = Node(found.document, schema, name).resolved()
        own = {k: v for k, v in self.schema.items() if k == "description"}
        return Node(inner.document, {**inner.schema, **own}, inner.name)

    def present(self) -> Node:
        """What a value is that is not null."""
        options = [option for option in self._options() if option != _NULL]
        if not options or "properties" in self.schema:
            return self.resolved()
        own = {k: v for k, v in self.schema.items() if k not in _CHOICES}
        return Node(self.document, {**options[0], **own}).resolved()

    @property
    def nullable(self) -> bool:
        types = as_list(self.schema.get("type")) or ()
        return "null" in types or _NULL in self._options()

    def _options(self) -> list[dict[str, Any]]:
        return [option for choice in _CHOICES for option in self.schema.get(choice, ())]

    def fields(self) -> Iterator[tuple[str, Node]]:
        for name, schema in self.schema.get("properties", {}).items():
            yield name, Node(self.document, schema)

    def items(self) -> Node:
        return Node(self.document, self.schema["items"])


@cache
def documents() -> dict[str, dict[str, Any]]:
    return {path.stem: json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.json")}


def document(name: str) -> Node:
    return Node(name, documents()[name])


def definitions() -> list[Node]:
    """The shared objects, each as a node of its own."""
    shared: dict[str, Any] = documents()[COMMON]["$defs"]
    return [Node(COMMON, s, name) for name, s in shared.items() if s.get("type") == "object"]


def schema_of(command: str) -> str:
    return command.replace(" ", "-")
