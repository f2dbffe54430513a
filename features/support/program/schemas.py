"""Holds every JSON answer of the program against its documented schemas.

The robot suites use it as well, from its file: it needs nothing of ours.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jsonschema import ValidationError

SCHEMAS = Path(__file__).resolve().parents[3] / "docs" / "reference" / "schemas"
_VERSION = "version"
"""The answer of `plan --version`, which is the answer of no command."""


def check_answer(output: str, code: int) -> None:
    """Fail if an output is JSON and not as documented; other output is not looked at."""
    if output.startswith("{"):
        envelope: dict[str, Any] = json.loads(output)
        check_envelope(envelope)
        assert envelope["exit_code"] == code, f"{code} is not in the envelope: {output}"


def check_envelope(envelope: Mapping[str, Any]) -> None:
    """Fail unless the envelope and its data are as their schemas say."""
    _check("envelope", envelope)
    if envelope["status"] == "ok":
        _check(schema_name(envelope["command"]), envelope["data"])


def schema_name(command: str | None) -> str:
    """The schema of a command's data: its words, joined."""
    return (command or _VERSION).replace(" ", "-")


def _check(name: str, document: object) -> None:
    problems = sorted(_problems(name, document))
    assert not problems, "\n".join((f"not as docs/reference/schemas/{name}.json says:", *problems))


def _problems(name: str, document: object) -> Iterator[str]:
    assert name in _documents(), f"docs/reference/schemas/{name}.json is missing"
    for error in _validator(name)(document):
        yield f"{error.json_path}: {error.message[:500]}"


@cache
def _validator(name: str) -> Callable[[object], Iterable[ValidationError]]:
    named = {f"{n}.json": Resource.from_contents(d) for n, d in _documents().items()}
    registry = Registry[Any]().with_resources(named.items())
    validator: Any = Draft202012Validator(_documents()[name], registry=registry)
    return validator.iter_errors


@cache
def _documents() -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.json")}
