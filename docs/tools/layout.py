"""JSON as people like to read it: short things on one line, well-known things cut short."""

from __future__ import annotations

import json
from typing import Any

from .documents import COMMON, Node, as_list, as_object

_WIDTH = 76
_UNKNOWN = Node("", {})
_SHOWN_FIELDS = 3
_MANY = 3
"""Of lists with more objects than this, two are shown."""
_LONG = 8
"""Objects of a shared kind with more fields than this are shown once, and then cut short."""


def laid_out(value: object, schema: Node) -> str:
    return _text(value, schema.present(), 0, top=True)


def _text(value: object, node: Node, indent: int, *, top: bool = False) -> str:
    pairs, items = as_object(value), as_list(value)
    if pairs:
        return _object(pairs, node, indent, top=top)
    if items:
        kind = Node(node.document, node.schema.get("items", {})).present()
        cut = len(items) > _MANY and as_object(items[0]) is not None
        parts = [_text(item, kind, indent + 2) for item in (items[:2] if cut else items)]
        return _joined("[", [*parts, "…"] if cut else parts, "]", indent)
    return json.dumps(value, ensure_ascii=False)


def _object(value: dict[str, Any], node: Node, indent: int, *, top: bool) -> str:
    known = dict(node.fields())
    cut = not top and node.document == COMMON and node.name and len(value) > _LONG
    names = list(value)[:_SHOWN_FIELDS] if cut else list(value)
    parts = [
        f"{json.dumps(name)}: {_text(value[name], known.get(name, _UNKNOWN).present(), indent + 2)}"
        for name in names
    ]
    return _joined("{", [*parts, "…"] if cut else parts, "}", indent)


def _joined(begin: str, parts: list[str], end: str, indent: int) -> str:
    line = f"{begin}{', '.join(parts)}{end}"
    if "\n" not in line and indent + len(line) <= _WIDTH:
        return line
    inner = ",\n".join(" " * (indent + 2) + part for part in parts)
    return f"{begin}\n{inner}\n{' ' * indent}{end}"
