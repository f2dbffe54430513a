"""The JSON Schemas, made of the shapes that the views declare and of the words in `meanings.toml`.

Objects and words with a name of their own are defined once, in `common.json`; all others stand
where they are used. The envelope alone is written by hand.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from backtrail.cli.app import VERSION as VERSION_SHAPE
from backtrail.cli.render.shape import Kind, Listed, Shape
from backtrail.cli.views import (
    apply,
    checkpoints,
    corrections,
    database,
    decisions,
    demo,
    diff,
    fields,
    lifecycle,
    operations,
    plans,
    retention,
    runs,
    settings,
    steps,
    timeline,
    tools,
)

from .documents import COMMON, SCHEMAS, VERSION, schema_of

RESULTS: Mapping[str, Shape | str] = {
    "demo": demo.DEMO,
    "create": plans.CREATED,
    "list": plans.PLANS,
    "status": plans.STATUS,
    "path": plans.PATH,
    "apply": apply.APPLY,
    "fork": plans.CREATED,
    "cancel": lifecycle.STATE,
    "remove": lifecycle.REMOVAL,
    "restore": lifecycle.RESTORE,
    "save": checkpoints.ONE_CHECKPOINT,
    "log": timeline.TIMELINE,
    "diff": diff.DIFF,
    "run": runs.OUTCOME,
    "abort": runs.ONE_RUN,
    "resume": runs.RESUMPTION,
    "steps": steps.STEPS,
    "tool": tools.CALL,
    "rollback": fields.ROLLBACK,
    "undo": fields.ROLLBACK,
    "redo": fields.ROLLBACK,
    "ops": operations.OPERATIONS,
    "correct": corrections.CORRECTION,
    "policy": retention.POLICY,
    "checkpoint create": "save",
    "checkpoint list": checkpoints.CHECKPOINTS,
    "checkpoint show": checkpoints.ONE_CHECKPOINT,
    "checkpoint diff": "diff",
    "checkpoint label": checkpoints.ONE_CHECKPOINT,
    "checkpoint pin": checkpoints.ONE_CHECKPOINT,
    "checkpoint unpin": checkpoints.ONE_CHECKPOINT,
    "checkpoint branch": checkpoints.BRANCH,
    "checkpoint export": checkpoints.EXPORT,
    "checkpoint delete": retention.DELETED,
    "checkpoint prune": retention.PRUNED,
    "runs list": runs.RUNS,
    "runs show": runs.ONE_RUN,
    "decision add": decisions.RECORDED,
    "decision list": decisions.DECISIONS,
    "decision tree": decisions.TREE,
    "decision show": decisions.SHOWN,
    "config show": settings.SETTINGS,
    "config check": settings.CHECKED,
    "db status": database.DATABASE,
    "db upgrade": database.DATABASE,
    "db path": database.LOCATION,
    VERSION: VERSION_SHAPE,
}
"""What each command prints as JSON; a command that is a second name of another one names that."""
_MEANINGS = Path(__file__).with_name("meanings.toml")
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DEFINITIONS = "#/$defs/"
_COMMANDS, _SHARED = "commands", "shared"
"""The parts of `meanings.toml`, which has a table for each file and for each shared object."""
_ABOUT, _LIKE = "about", "like"


def problems(*, write: bool) -> Iterator[str]:
    """Files that are not what is declared, and meanings of nothing; with `write`, only those."""
    for name, schema in schemas().items():
        file = SCHEMAS / f"{name}.json"
        text = json.dumps(schema, ensure_ascii=False, indent=2) + "\n"
        if write:
            file.write_text(text, "utf-8")
        elif not file.exists() or file.read_text("utf-8") != text:
            yield f"{file.name} is out of date; nox -s docs -- --write renews it"
    results = {schema_of(name): result for name, result in RESULTS.items()}
    for part, kinds in ((_COMMANDS, results), (_SHARED, _shared())):
        for name, said in _meanings()[part].items():
            kind = kinds.get(name)
            known = {_ABOUT, _LIKE, *(_paths(kind, "") if isinstance(kind, Kind) else ())}
            for path in sorted(said.keys() - known):
                yield f"docs/tools/meanings.toml: there is no {part}.{name}, {path}"


def _paths(kind: Kind, path: str) -> Iterator[str]:
    """Every field of an object as far as it stands in one place."""
    if isinstance(kind, Listed) and kind.item.name is None:
        yield from _paths(kind.item, f"{path}[]")
    for name, field in kind.fields.items() if isinstance(kind, Shape) else ():
        inner = f"{path}.{name}" if path else str(name)
        yield inner
        yield from _paths(field, inner) if field.name is None else ()


def schemas() -> dict[str, dict[str, Any]]:
    """All of them by the names of their files."""
    commands = {schema_of(name): _command(name, result) for name, result in RESULTS.items()}
    return {COMMON: _common(), **commands}


def _command(name: str, result: Shape | str) -> dict[str, Any]:
    file, words = schema_of(name), f"plan {'--version' if name == VERSION else name}"
    head = {"$schema": _DIALECT, "title": words}
    about = {"description": _meaning(_COMMANDS, file, _ABOUT)}
    if isinstance(result, str):
        return {**head, **about, "$ref": f"{schema_of(result)}.json"}
    return {**head, **_Writer(_COMMANDS, file).schema(result, ""), **about}


def _common() -> dict[str, Any]:
    definitions = {
        name: {
            "title": _title(name, kind),
            **_Writer(_SHARED, name).definition(kind),
        }
        for name, kind in _shared().items()
    }
    title = "Objects that several commands share"
    return {"$schema": _DIALECT, "title": title, "$defs": definitions}


def _title(name: str, kind: Kind) -> str:
    words = name.replace("_", " ")
    return words.capitalize() if isinstance(kind, Shape) else words


@cache
def _shared() -> dict[str, Kind]:
    """Every kind that has a name, in the order in which they are met."""
    found: dict[str, Kind] = {}
    for result in RESULTS.values():
        if isinstance(result, Shape):
            _collect(result, found)
    return found


def _collect(kind: Kind, found: dict[str, Kind]) -> None:
    if kind.name is not None:
        if kind.name in found:
            return
        found[kind.name] = kind
    if isinstance(kind, Listed):
        _collect(kind.item, found)
    for field in kind.fields.values() if isinstance(kind, Shape) else ():
        _collect(field, found)


class _Writer:
    """Writes one document, or one definition of the shared one."""

    def __init__(self, part: str, table: str) -> None:
        self._part, self._table = part, table
        self._common = "" if part == _SHARED else f"{COMMON}.json"

    def definition(self, kind: Kind) -> dict[str, Any]:
        about = _meaning(self._part, self._table, _ABOUT)
        return {**({"description": about} if about else {}), **self._body(kind, "")}

    def schema(self, kind: Kind, path: str) -> dict[str, Any]:
        schema = self._reference(kind) or self._body(kind, path)
        if not kind.nullable:
            return schema
        if isinstance(schema.get("type"), str) and not isinstance(kind, Shape | Listed):
            return {**schema, "type": [schema["type"], "null"]}
        return {"anyOf": [schema, {"type": "null"}]}

    def _reference(self, kind: Kind) -> dict[str, Any] | None:
        return {"$ref": f"{self._common}{_DEFINITIONS}{kind.name}"} if kind.name else None

    def _body(self, kind: Kind, path: str) -> dict[str, Any]:
        schema = dict(kind.schema)
        if isinstance(kind, Listed):
            return {**schema, "items": self.schema(kind.item, f"{path}[]")}
        if not isinstance(kind, Shape):
            return schema
        before = f"{path}." if path else ""
        schema["properties"] = {
            str(name): self._field(field, f"{before}{name}") for name, field in kind.fields.items()
        }
        if not kind.open:
            schema["required"] = [str(n) for n, field in kind.fields.items() if not field.optional]
        return {**schema, "additionalProperties": kind.open}

    def _field(self, kind: Kind, path: str) -> dict[str, Any]:
        meaning = _meaning(self._part, self._table, path)
        schema = self.schema(kind, path)
        return {**schema, "description": meaning} if meaning else schema


def _meaning(part: str, table: str, path: str) -> str:
    """What is said of a field; in an object that is like a shared one, what is said of that one."""
    said = _meanings()[part].get(table, {})
    if path in said:
        return said[path]
    for name, shared in said.get(_LIKE, {}).items():
        if path.startswith(name):
            return _meaning(_SHARED, shared, path.removeprefix(name).lstrip("."))
    return ""


@cache
def _meanings() -> dict[str, dict[str, dict[str, Any]]]:
    return tomllib.loads(_MEANINGS.read_text("utf-8"))
