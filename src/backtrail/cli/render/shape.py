"""What the JSON of a result is made of: declared once, and both written and described from there.

A kind says what a value is; a shape is an object with a kind for each of its fields. What reaches
standard output is read off a domain value by them, and `docs/tools` makes the JSON Schemas of
`docs/reference/schemas` of the same declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, cast

Source = str | Callable[[Any], Any] | None
"""Where a value is found in its owner: a path of attributes, which may end early at a None."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a value is. What it cannot be read off by its field's name says where it is found."""

    name: str | None = None
    """The name that several results know it by, in `common.json`."""
    schema: Mapping[str, Any]
    """What JSON Schema says of it."""
    nullable: bool = False
    optional: bool = False
    """Whether its field is left out when there is no value."""
    source: Source = None

    def __or__(self, _: None) -> Self:
        return replace(self, nullable=True)

    def at(self, source: Source) -> Self:
        return replace(self, source=source)

    def if_any(self) -> Self:
        return replace(self, optional=True)

    def json(self, value: object) -> object:
        """The value itself: how moments, paths and words are written is the same everywhere."""
        return value


@dataclass(frozen=True, kw_only=True)
class Listed(Kind):
    """A list, each of whose items is of one kind."""

    item: Kind

    def json(self, value: object) -> object:
        if value is None:
            return None
        values = cast("Iterable[object]", value)
        return [self.item.json(find(inner, self.item.source)) for inner in values]


@dataclass(frozen=True, kw_only=True)
class Shape(Kind):
    """An object."""

    fields: Mapping[str, Kind]
    open: bool = False
    """Whether its keys are what they are: the fields are those that are known."""

    def json(self, value: object) -> object:
        return None if value is None else self.of(value)

    def of(self, value: object) -> dict[str, Any]:
        if self.open:
            return dict(cast("Mapping[str, Any]", value))
        found = {
            name: kind.json(find(value, kind.source or name)) for name, kind in self.fields.items()
        }
        left_out = {name for name, kind in self.fields.items() if kind.optional}
        return {k: v for k, v in found.items() if v is not None or k not in left_out}

    def within(self, part: str, *, nullable: bool) -> dict[str, Kind]:
        """The same fields for an owner that has the value, or perhaps None, as a part."""
        return {
            name: replace(kind, source=_inner(part, name, kind), nullable=kind.nullable or nullable)
            for name, kind in self.fields.items()
        }


def _inner(part: str, name: str, kind: Kind) -> Callable[[object], object]:
    def found(owner: object) -> object:
        value = find(owner, part)
        return None if value is None else find(value, kind.source or name)

    return found


def itself(value: object) -> object:
    """The source of an object whose fields are found in the owner, too."""
    return value


def find(owner: object, source: Source) -> object:
    if source is None:
        return owner
    if not isinstance(source, str):
        return source(owner)
    for name in source.split("."):
        if owner is None:
            break
        known = isinstance(owner, Mapping)
        owner = cast("Mapping[str, object]", owner)[name] if known else getattr(owner, name)
    return owner


def shape(name: str | None = None, /, **fields: Kind) -> Shape:
    return Shape(name=name, schema={"type": "object"}, fields=fields)


def open_shape(name: str | None = None, /, **known: Kind) -> Shape:
    """A mapping that is written as it is; the keys that are known may be missing."""
    return replace(shape(name, **known), open=True)


def listed(item: Kind) -> Listed:
    return Listed(schema={"type": "array"}, item=item)


def words(choices: Iterable[str], name: str | None = None) -> Kind:
    return Kind(name=name, schema={"enum": [str(word) for word in choices]})


def _text(name: str, pattern: str) -> Kind:
    return Kind(name=name, schema={"type": "string", "pattern": pattern})


TEXT = Kind(schema={"type": "string"})
FLAG = Kind(schema={"type": "boolean"})
INTEGER = Kind(schema={"type": "integer"})
COUNT = Kind(schema={"type": "integer", "minimum": 0})
ORDINAL = Kind(schema={"type": "integer", "minimum": 1})
"""A number that counts from one."""
ID = _text("id", "^[0-9A-HJKMNP-TV-Z]{26}$")
COMMIT = _text("commit", "^([0-9a-f]{40}|[0-9a-f]{64})$")
MOMENT = _text("moment", r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
