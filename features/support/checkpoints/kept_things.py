"""What of a random tree a rollback owes: an account of its own, from walks of the disk alone.

What nobody captures - FIFOs and the .git of repositories inside - is neither brought back nor taken
away. Where one of them stands in the way of something that would return, a rollback is refused.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.checkpoints.random_trees import is_small_by_default, may_be_ignored
from support.world.disk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from support.world.disk import Walk


@dataclass(frozen=True, slots=True)
class Account:
    """All that is in a sandbox, and what of it no rule may ignore."""

    everything: Walk
    captured: Walk
    """What goes again if it was not there: files, links, directories of nothing else."""
    owed: Walk
    """What comes back: the same, and directories that hold something that is not captured."""
    repositories: frozenset[bytes]

    def may_hold(self, path: bytes) -> bool:
        """Whether something was there, or might be: what a pipe gave way to stays."""
        return path in self.everything or _is_or_is_below(path, set(self.pipes))

    @property
    def pipes(self) -> list[bytes]:
        return [path for path, entry in self.everything.items() if entry[0] == "special"]


def account_of(root: Path, *, with_small: bool) -> Account:
    """With small ignored files among what is owed, or without."""
    everything = walk(root, directories=True)
    repositories = frozenset(
        path
        for path, entry in everything.items()
        if entry[0] == "directory"
        and os.path.lexists(os.path.join(os.fsencode(root), path, b".git"))
    )
    small = {
        path
        for path, entry in everything.items()
        if with_small and is_small_by_default(path) and entry[0] not in {"directory", "special"}
    }
    # A small file that came since is not sure to go: rules of the checkpoint may have ignored it.
    captured = _captured(everything, repositories, set())
    returning = _captured(everything, repositories, small)
    pipes = (path for path, entry in everything.items() if entry[0] == "special")
    firm = [path for path in (*pipes, *repositories) if not may_be_ignored(path)]
    holders = {
        path: entry
        for path, entry in everything.items()
        if entry[0] == "directory" and (path in repositories or _holds(path, firm))
        if not may_be_ignored(path)
    }
    return Account(everything, captured, {**returning, **holders}, repositories)


def _captured(everything: Walk, repositories: frozenset[bytes], small: set[bytes]) -> Walk:
    """Files and links, directories that hold nothing at all, and those that hold any of these."""
    captured: Walk = {}
    # Deepest first: what a directory holds is known before the directory is asked.
    for path in sorted(everything, key=lambda path: -path.count(b"/")):
        entry = everything[path]
        if (may_be_ignored(path) and path not in small) or entry[0] == "special":
            continue
        if (
            entry[0] != "directory"
            or _holds(path, captured)
            or (path not in repositories and not _holds(path, everything))
        ):
            captured[path] = entry
    return captured


def _holds(directory: bytes, paths: Iterable[bytes]) -> bool:
    return any(path.startswith(directory + b"/") for path in paths)


def in_the_way(wanted: Account, now: Account, *, ignored: bool = False) -> bool:
    """Whether something that nobody captures is where something would return.

    With `ignored`, also where something would return that a rule may ignore, or not.
    """
    due = wanted.everything if ignored else wanted.owed
    firm = {path for path, entry in due.items() if entry[0] not in {"directory", "special"}}
    empty = {path for path, entry in due.items() if entry[0] == "directory"}
    replaced = any(_is_or_is_below(thing, firm) for thing in (*now.pipes, *now.repositories))
    return replaced or any(_is_or_is_above(pipe, firm | empty) for pipe in now.pipes)


def _is_or_is_below(path: bytes, others: set[bytes]) -> bool:
    parts = path.split(b"/")
    return any(b"/".join(parts[:count]) in others for count in range(1, len(parts) + 1))


def _is_or_is_above(path: bytes, others: set[bytes]) -> bool:
    return path in others or _holds(path, others)
