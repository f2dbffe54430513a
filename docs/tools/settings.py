"""The reference of `plan.toml`, drawn from the table of its keys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from backtrail.config.effective import VARIABLES
from backtrail.config.keys import SECTIONS, TOOL, Key, Section

from .markdown import code, table


def reference() -> str:
    """A section for each section."""
    return "\n".join(line for section in (*SECTIONS, TOOL) for line in _section(section))


def variables() -> str:
    return table(
        ("variable", "in `plan config show`", "meaning"),
        ((code(variable), code(key), what) for key, (variable, what) in VARIABLES.items()),
    )


def _section(section: Section[Any]) -> Iterator[str]:
    name = f"{section.name}.NAME" if section is TOOL else section.name
    yield f"## {code(f'[{name}]')}"
    yield ""
    yield section.meaning
    yield ""
    yield table(
        ("key", "value", "default", "meaning"),
        ((code(k.name), k.kind.expected, _default(section, k), k.meaning) for k in section.keys),
    )


def _default(section: Section[Any], key: Key) -> str:
    value = key.kind.shown(section.default(key.name))
    return "none" if value is None else code(json.dumps(value))
