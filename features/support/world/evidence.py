"""Everything that a refused command must leave alone: files, refs, HEADs, indexes and rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from support.storage.rows import SqliteRows
from support.world.disk import Walk, walk
from support.world.picture import file_differences

if TYPE_CHECKING:
    from support.world.world import World


@dataclass(frozen=True, slots=True)
class Evidence:
    files: Walk
    facts: dict[str, str | bytes]

    def differences(self, other: Evidence) -> list[str]:
        changed = [
            f"{name}: {_shown(self.facts.get(name))}\n is now {_shown(other.facts.get(name))}"
            for name in sorted({*self.facts, *other.facts})
            if self.facts.get(name) != other.facts.get(name)
        ]
        return changed + file_differences(self.files, other.files)


def _shown(value: str | bytes | None) -> str:
    return repr(value)[-1500:]


def collect(world: World) -> Evidence:
    """All there is below the world's root, in every repository that lies directly in it."""
    facts: dict[str, str | bytes] = {}
    for git_dir in sorted(world.root.glob("*/.git/")):
        if git_dir.is_dir():
            facts |= _repository(world, git_dir)
    facts["rows"] = world.rows.dump() or b"(none)"
    files = walk(world.root)
    # Looking into a database may touch its file; what matters of it are the rows.
    return Evidence({p: e for p, e in files.items() if not p.startswith(b"shared.db")}, facts)


def _repository(world: World, git_dir: Path) -> dict[str, str | bytes]:
    name = git_dir.parent.name
    facts: dict[str, str | bytes] = {f"{name}: refs": refs(world, git_dir)}
    for place in (git_dir, *sorted(git_dir.glob("worktrees/*"))):
        for file in ("HEAD", "index", "logs/HEAD"):
            facts[f"{name}: {place.name}/{file}"] = _bytes(place / file)
    home = git_dir / "backtrail"
    if (home / "store.git").is_dir():
        facts[f"{name}: checkpoint refs"] = refs(world, home / "store.git")
    facts[f"{name}: rows"] = SqliteRows(home / "plan.db").dump() or b"(none)"
    return facts


def refs(world: World, git_dir: Path) -> str:
    return world.run("git", f"--git-dir={git_dir}", "for-each-ref", cwd=world.root).ok().out


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b"(none)"
