"""Real answers of the program, for the examples in the reference of the JSON output.

Ids, commits, moments and the like are replaced by ones that stay the same, in the order in which
they appear, and so are fields whose values differ from run to run.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from .documents import (
    ENVELOPE,
    VERSION,
    Node,
    as_list,
    as_object,
    document,
    documents,
    schema_of,
)
from .layout import laid_out
from .shell import run, scratch_home

SESSION = (
    "git init -q shop && cd shop && mkdir src",
    "echo 'price = 1' >src/cart.py && echo '*.log' >.gitignore",
    "git add . && git commit -qm 'the shop opens'",
    "plan create auth",
    "plan list",
    "plan path auth",
    "cd ../shop.plans/auth && echo 'user = None' >src/login.py",
    "plan status",
    "plan save -m 'login works' --label login",
    "plan checkpoint create -m 'the same again'",
    "plan checkpoint label 3 again",
    "plan checkpoint list",
    "plan checkpoint show login",
    "echo 'price = 2' >src/cart.py && echo noise >debug.log",
    "plan diff login",
    "plan checkpoint diff login",
    "plan rollback login --yes",
    "plan undo",
    "plan redo",
    "plan decision add 'sessions in cookies' --rationale 'no server state'",
    "plan decision add 'sign them' --parent D1",
    "plan decision list",
    "plan decision tree",
    "plan decision show D1",
    "plan correct D1 --mode revert --guidance 'sessions in the database' --yes",
    "plan checkpoint pin login",
    "plan checkpoint unpin login",
    "plan policy --max-checkpoints 40",
    "plan checkpoint prune --max 5 --dry-run",
    "plan checkpoint label again --clear",
    "plan checkpoint delete 3 --yes",
    "plan run --verify 'test -s src/cart.py' -- touch src/checked",
    "plan runs list",
    "plan runs show 1",
    "(plan run -- sleep 600 >/dev/null 2>&1 &)",
    "for _ in $(seq 600); do plan runs show 2 | grep -q '\"running\"' && break; sleep 0.1; done",
    "plan abort",
    "plan resume --dry-run",
    "plan run --step build -- touch src/built",
    "plan steps",
    "plan tool pytest -- touch src/tested",
    "plan ops --limit 1",
    "plan log --limit 2",
    "plan fork login twin",
    "plan checkpoint branch login review",
    "plan checkpoint export login ../../login.tar.gz",
    "plan cancel",
    "cd ../../shop",
    "plan remove auth --yes",
    "plan restore auth",
    "cd ../shop.plans/auth",
    "plan create price && echo 'price = 3' >../price/src/cart.py",
    "plan apply price --yes",
    "plan demo",
    "plan config show",
    "plan config check",
    "plan db status",
    "plan db upgrade",
    "plan db path",
    "plan --version",
    "plan rollback nope --yes",
)
"""A line for each command, in an order in which each has something to tell."""

_SETTLED = {"duration_ms": 184, "host": "workstation", "size_bytes": 1548, "set_aside_bytes": 24576}
"""Fields that differ from run to run, with values that do not."""
_FIRST_MOMENT = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)
_ID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")
_COMMIT = re.compile(r"\b[0-9a-f]{40}\b")
_SCRATCH = re.compile(r"(\bbacktrail-[a-z]+-)[a-z0-9_]{8}\b")
_MOMENT = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")


def answer_of(command: str) -> dict[str, Any] | None:
    """The first answer of a command that did what it was asked."""
    known = None if command == VERSION else command
    return next((a for a in _answers() if a["command"] == known and a["status"] == "ok"), None)


def example_of(command: str) -> str:
    """The data of a command's answer; objects that have a section of their own are shortened."""
    answer = answer_of(command)
    return laid_out(answer["data"], document(schema_of(command))) if answer else ""


def example_of_failure() -> str:
    answer = next(a for a in _answers() if a["status"] == "error")
    return laid_out(answer, document(ENVELOPE))


def shared_example(name: str) -> str | None:
    """The first object of a shared kind that is a part of an answer, whole."""
    for answer in _answers():
        file = schema_of(answer["command"] or VERSION)
        if answer["status"] == "ok" and file in documents():
            _, *parts = _walk(document(file).present(), answer["data"])
            for node, value in parts:
                if node.name == name:
                    return laid_out(value, node)
    return None


def _walk(node: Node, value: object) -> Iterator[tuple[Node, object]]:
    """The value and all that is in it, each with what the schema says of it."""
    yield node, value
    inside = as_object(value) or {}
    for name, field in node.fields():
        if name in inside:
            yield from _walk(field.present(), inside[name])
    for item in as_list(value) or () if "items" in node.schema else ():
        yield from _walk(node.items().present(), item)


@cache
def _answers() -> list[dict[str, Any]]:
    with scratch_home() as home:
        said = run(home, SESSION, {"PLAN_FORMAT": "json"})
    asked = zip(SESSION, said, strict=True)
    text = _steady("\n\0".join(s.output for line, s in asked if line.startswith("plan ")))
    return [as_object(_settled(None, json.loads(part))) or {} for part in text.split("\0")]


def _steady(text: str) -> str:
    """The text with all that changes from run to run numbered in the order of its appearance."""
    text = _ID.sub(_numbered(lambda n: f"01M7H3KA3S3Q8AVDDE67A1{n:04d}"), text)
    text = _COMMIT.sub(
        _numbered(lambda n: hashlib.sha1(b"%d" % n, usedforsecurity=False).hexdigest()), text
    )
    moment = _numbered(lambda n: f"{_FIRST_MOMENT + timedelta(seconds=n):%Y-%m-%dT%H:%M:%SZ}")
    return _SCRATCH.sub(r"\1k2x7m9qp", _MOMENT.sub(moment, text))


def _numbered(name: Callable[[int], str]) -> Callable[[re.Match[str]], str]:
    names: dict[str, str] = {}
    return lambda found: names.setdefault(found[0], name(len(names) + 1))


def _settled(name: str | None, value: object) -> object:
    """The value, with fields that differ from run to run set to what they are by example."""
    pairs, items = as_object(value), as_list(value)
    if pairs is not None:
        return {key: _settled(key, inner) for key, inner in pairs.items()}
    if items is not None:
        return [_settled(None, item) for item in items]
    return value if value is None else _SETTLED.get(name or "", value)
