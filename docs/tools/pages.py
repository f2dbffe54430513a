"""The pages of the documentation, and the parts of them that are generated.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end generated -->`; all else
in a page is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_PART = re.compile(
    r"(?P<begin><!-- generated: (?P<name>[^>]+?) -->\n).*?(?P<end><!-- end generated -->\n)",
    re.DOTALL,
)

Generators = Mapping[str, Callable[[], str]]


def all_pages() -> list[Path]:
    """Every page of the project, README first."""
    return [*sorted(ROOT.glob("*.md"), reverse=True), *sorted((ROOT / "docs").rglob("*.md"))]


def shown(page: Path) -> str:
    """How messages name a page."""
    return page.relative_to(ROOT).as_posix()


def check_generated(generators: Generators, *, write: bool) -> list[str]:
    """Bring generated parts up to date, or tell which are not; and which are not in any page."""
    problems: list[str] = []
    used: set[str] = set()
    for page in all_pages():
        text = page.read_text("utf-8")
        names = [found["name"] for found in _PART.finditer(text)]
        used.update(names)
        unknown = [name for name in names if name not in generators]
        problems += [f"{shown(page)}: nothing generates {name!r}" for name in unknown]
        problems += [] if unknown else _check_page(page, text, generators, write=write)
    return problems + [f"no page has {name!r}" for name in generators if name not in used]


def _check_page(page: Path, text: str, generators: Generators, *, write: bool) -> list[str]:
    new = _PART.sub(
        lambda found: f"{found['begin']}\n{generators[found['name']]().strip()}\n\n{found['end']}",
        text,
    )
    if new == text:
        return []
    if write:
        page.write_text(new, "utf-8")
        return []
    return [f"{shown(page)}: generated parts are out of date; nox -s docs -- --write renews them"]
