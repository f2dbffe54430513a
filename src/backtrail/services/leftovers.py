"""What a rollback neither restores nor removes, told path by path."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.domain.rollback import LeftAlone
from backtrail.git.storable import SET_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from backtrail.domain.checkpoint import NotCaptured
    from backtrail.git.restore import FilePlan


def spared(root: Path, ignored: Iterable[str], files: FilePlan) -> list[str]:
    """What of the ignored files stays, as the sandbox is before the restore.

    A directory that was ignored as a whole is one entry, unless something in it is restored.
    """
    touched = _touched(files)
    return [path for entry in ignored for path in _untouched(root, entry, touched)]


def left_alone(
    files: FilePlan, ignored: Iterable[str], not_captured: Iterable[NotCaptured]
) -> tuple[LeftAlone, ...]:
    """Survivors, the ignored files that are spared, and what cannot be captured.

    Chosen ignored files of the goal are as they were, by what was proven of them.
    """
    chosen = {os.fsdecode(entry.path) for entry in files.included}
    found = dict.fromkeys((path for path in ignored if path not in chosen), "ignored")
    found |= files.survivors
    found |= {entry.path: entry.reason for entry in not_captured if entry.reason != SET_BITS}
    touched = _touched(files)
    return tuple(LeftAlone(path, why) for path, why in sorted(found.items()) if path not in touched)


def _touched(files: FilePlan) -> set[str]:
    """What was restored or removed, also against the ignore rules, and the directories above."""
    touched = {change.file for change in files.changes} | set(files.goal.forced)
    return touched | {f"{parent}/" for path in touched for parent in _parents(path)}


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _untouched(root: Path, path: str, touched: set[str]) -> Iterator[str]:
    if path not in touched:
        yield path
    elif path.endswith("/"):
        for inside in _inside(root, path):
            yield from _untouched(root, inside, touched)


def _inside(root: Path, directory: str) -> list[str]:
    """The entries of a directory; an empty one among them says nothing of ignored files."""
    try:
        with os.scandir(root / directory) as entries:
            found = [e for e in entries if e.name != ".git"]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
    directories = {e.name for e in found if e.is_dir(follow_symlinks=False)}
    return [
        f"{directory}{e.name}/" if e.name in directories else f"{directory}{e.name}"
        for e in found
        if e.name not in directories or _holds_anything(e.path)
    ]


def _holds_anything(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return next(entries, None) is not None
    except PermissionError:
        return True
