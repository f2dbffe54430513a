"""The packages of the program in their order, drawn from the import contracts that hold it."""

from __future__ import annotations

import ast
import re
import tomllib
from typing import TYPE_CHECKING, Any

from .pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

_SOURCE = ROOT / "src"
_PROGRAM = "backtrail"
_MEMBERS = re.compile(r"\s*([|:])\s*")


def packages() -> str:
    """Every package and sub-package that a contract orders, the highest first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    orders = {
        container: contract["layers"]
        for contract in contracts
        if contract["type"] == "layers"
        for container in contract["containers"]
    }
    rows = list(_rows(orders, _PROGRAM, ""))
    width = max(len(name) for name, _ in rows)
    lines = (f"{name:<{width}}  {does}".rstrip() for name, does in rows)
    return "\n".join(["```text", *lines, "```"])


def _rows(orders: dict[str, list[str]], package: str, indent: str) -> Iterator[tuple[str, str]]:
    for layer in orders.get(package, []):
        first, *others = _MEMBERS.split(layer)
        mark = f"{others[0]} " if others else "  "
        for member in [first, *others[1::2]]:
            name = member.strip("()")
            yield f"{indent}{mark}{name}", _responsibility(f"{package}.{name}")
            yield from _rows(orders, f"{package}.{name}", f"{indent}    ")


def _responsibility(module: str) -> str:
    place = _SOURCE / module.replace(".", "/")
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return text.partition("\n")[0]
