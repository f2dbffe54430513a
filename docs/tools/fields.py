"""The reference of the JSON output: its fields, drawn from the schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .commands import PROGRAM, command_names
from .documents import (
    COMMON,
    ENVELOPE,
    VERSION,
    Node,
    as_list,
    definitions,
    document,
    documents,
    schema_of,
)
from .examples import answer_of, example_of, example_of_failure, shared_example
from .markdown import code, codes, fenced, link, table

_TITLES = ("field", "value", "meaning")


def envelope() -> str:
    return "\n".join(
        (table(_TITLES, _rows(document(ENVELOPE), "")), _example(example_of_failure()))
    )


def commands() -> str:
    """A section for each command."""
    names = [*command_names(), VERSION]
    return "\n".join(line for name in names for line in _command(name))


def shared() -> str:
    """A section for each object that several commands share."""
    return "\n".join(line for node in definitions() for line in _shared(node))


def _command(name: str) -> list[str]:
    file = schema_of(name)
    schema = documents().get(file)
    if schema is None:
        return []
    words = f"{PROGRAM} --version" if name == VERSION else f"{PROGRAM} {name}"
    said = f"{schema['description']} Schema: [{file}.json](schemas/{file}.json)."
    reference: str = schema.get("$ref", "")
    lines = [f"### {code(words)}", "", said]
    if reference.startswith(f"{COMMON}.json#"):
        lines.append(f"The data: one {_object(document(file).resolved())}.")
    elif reference:
        twin = reference.removesuffix(".json").replace("-", " ")
        lines.append(f"The same as {link(code(f'{PROGRAM} {twin}'), f'{PROGRAM} {twin}')}.")
        return [*lines, ""]
    else:
        lines += ["", table(_TITLES, _rows(document(file), "")).rstrip("\n")]
    return [*lines, "", _example(example_of(name))]


def _shared(node: Node) -> list[str]:
    title: str = node.schema["title"]
    return [
        f"### {title}",
        "",
        f"{node.schema['description']}\n",
        table(_TITLES, _rows(node, "")),
        _example(shared_example(str(node.name))),
    ]


def _example(text: str | None) -> str:
    # What was cut short is no JSON any more, and would be coloured as an error.
    return fenced(text, "text" if "…" in text else "json") if text else ""


def _rows(node: Node, before: str) -> Iterator[tuple[str, str, str]]:
    """A row for each field; those of an object that is described here follow it."""
    required: list[str] = node.schema.get("required", [])
    for name, field in node.fields():
        present = field.present()
        meaning = str(present.schema.get("description") or present.schema.get("title", ""))
        optional = "" if name in required or _is_open(node) else " May be missing."
        yield code(f"{before}{name}"), _value(field), f"{meaning}{optional}"
        inner = present if present.schema.get("type") != "array" else present.items().present()
        if inner.name is None or inner.document != COMMON:
            yield from _rows(
                inner, f"{before}{name}." if inner is present else f"{before}{name}[]."
            )


def _is_open(node: Node) -> bool:
    return node.schema.get("additionalProperties") is True or "required" not in node.schema


def _value(field: Node) -> str:
    return _present_value(field.present()) + (" or null" if field.nullable else "")


def _present_value(node: Node) -> str:
    schema = node.schema
    kind = schema.get("type")
    if "enum" in schema:
        return codes(str(word) for word in schema["enum"])
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if node.name and kind != "object":
        return str(schema.get("title", node.name))
    if kind == "array":
        return f"list of {_plural(node.items())}"
    if kind == "object":
        return _object(node)
    return str((as_list(kind) or [kind])[0])


def _plural(items: Node) -> str:
    inner = items.present()
    return f"{_present_value(inner)}s"


def _object(node: Node) -> str:
    if node.name is None or node.document != COMMON:
        return "object"
    title = str(node.schema["title"])
    return f"{link(title.lower(), title)} object"


def problems() -> list[str]:
    """Commands that the examples leave out."""
    return [
        f"docs/tools/examples.py: no line of SESSION runs {PROGRAM} {name}"
        for name in command_names()
        if answer_of(name) is None
    ]
