"""Directories that a restore is about to make or change, and that hold nothing captured.

Their modes, and which of them are there at all, are in no ordinary checkpoint. A safety checkpoint
needs them: what it does not know an undo cannot bring back.
"""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.git.osfiles.beneath import PERMISSIONS, Beneath, parents_of
from backtrail.git.osfiles.paths import lstat_inside
from backtrail.git.store.objects import start_directories

if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from pathlib import Path

    from backtrail.git.capture.conflicts import Replacing
    from backtrail.git.metadata.model import Extras
    from backtrail.git.store.store import PrivateStore


def with_bystanders(
    store: PrivateStore, root: Path, extras: Extras, replacing: Replacing, noted: Container[str]
) -> Extras:
    """The extras of a capture, with directories that are not `noted` and are to be replaced."""
    listings = [start_directories(store, tree) for tree in replacing.trees]
    made = {d for listing in listings for d in listing.finish().checked().records()}
    chosen = (*replacing.included, *replacing.going)
    for_chosen = {parent for path in chosen for parent in parents_of(path)}
    bare = _with_parents(replacing.bare_directories)
    leaving = _with_parents(replacing.absent_directories)
    empty: dict[str, int] = {}
    standing: dict[str, int] = {}
    absent: list[str] = []
    for path in sorted({*made, *for_chosen, *bare, *leaving}):
        name = os.fsdecode(path)
        if name in noted:
            continue
        found = lstat_inside(root, path)
        if found is None or not stat.S_ISDIR(found.st_mode):
            # Directories that come with files go with them, unless these are ignored.
            absent += [name] if path in bare or path in for_chosen else []
        elif _is_empty(root, path):
            empty[name] = found.st_mode & PERMISSIONS
        else:
            standing[name] = found.st_mode & PERMISSIONS
    return replace(
        extras,
        directory_modes={**extras.directory_modes, **empty},
        empty_directories=tuple(sorted({*extras.empty_directories, *empty})),
        standing={**extras.standing, **standing},
        absent=tuple(absent),
    )


def _with_parents(directories: Iterable[bytes]) -> set[bytes]:
    return {d for path in directories for d in (*parents_of(path), path)}


def _is_empty(root: Path, directory: bytes) -> bool:
    try:
        with Beneath(root) as inside, inside.scan(directory) as entries:
            return not entries
    except OSError:
        # It may not be read, or is something else by now.
        return False
