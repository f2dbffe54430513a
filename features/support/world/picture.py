"""What a user sees of a sandbox: its files, HEAD, branch, index and what is under way."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from support.sandbox.stuck import notes
from support.world.disk import Walk, entry_at, walk

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from support.world.world import World

LOOK_ONLY = {"GIT_OPTIONAL_LOCKS": "0"}


@dataclass(frozen=True, slots=True)
class Picture:
    """Bytes and modes from the disk; the rest in git's own words."""

    files: Walk
    head: str
    """The branch that HEAD is on, or what `git status` says of a HEAD that is on none."""
    commit: str
    branch: str
    status: str
    staged: str
    under_way: Mapping[str, bytes]
    """What git has noted of a merge, rebase or the like."""

    def without_directories(self) -> Walk:
        """The files and links alone, as a tree of git knows them."""
        return {path: entry for path, entry in self.files.items() if entry[0] != "directory"}

    def differences(self, other: Picture) -> list[str]:
        """What is not the same in another picture, in words."""
        found = [
            f"{field.name}: {getattr(self, field.name)!r} is now {getattr(other, field.name)!r}"
            for field in fields(self)
            if field.name != "files" and getattr(self, field.name) != getattr(other, field.name)
        ]
        return found + file_differences(self.files, other.files)


def file_differences(before: Walk, now: Walk) -> list[str]:
    """Paths that are not the same in two walks, with what they were and are."""
    return [
        f"{path!r}: {_shown(before.get(path))} is now {_shown(now.get(path))}"
        for path in sorted({*before, *now})
        if before.get(path) != now.get(path)
    ]


def _shown(entry: tuple[str, int, bytes] | None) -> str:
    if entry is None:
        return "absent"
    kind, mode, content = entry
    return f"{kind} {mode:o} {content[:60]!r}"


def picture(world: World, sandbox: Path, branch: str | None) -> Picture:
    """The sandbox as it is now; looking does not even refresh the index."""

    def ask(*arguments: str) -> str:
        return world.run("git", *arguments, cwd=sandbox, env=LOOK_ONLY).out

    return Picture(
        files={b".": entry_at(sandbox), **walk(sandbox, directories=True)},
        head=ask("symbolic-ref", "--quiet", "HEAD") or _first_line(ask("status", "-uno")),
        commit=ask("rev-parse", "--verify", "--quiet", "HEAD"),
        branch=ask("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}") if branch else "",
        status=ask("status", "--porcelain=v2", "--untracked-files=all", "--ignored"),
        staged=ask("diff", "--cached"),
        under_way=notes(sandbox, ask("rev-parse", "--absolute-git-dir").strip()),
    )


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0]
