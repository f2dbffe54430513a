"""Chosen ignored files of the main checkout, brought along into a new sandbox.

Patterns are those of .gitignore, from `[sandbox] copy` and from a file `.worktreeinclude`. What
matches is copied only if git ignores it, and only where nothing is yet; links stay links.
"""

from __future__ import annotations

import os
import shutil
import stat
from typing import TYPE_CHECKING

from backtrail.git.gitstate import read_index
from backtrail.git.ignore import ConfiguredPlace, ask_rules, scratch_directory
from backtrail.git.judging import ignored_here
from backtrail.git.paths import first_obstacle, lstat_inside

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backtrail.git.discovery import Worktree
    from backtrail.git.ignore import UserSettings
    from backtrail.git.store import PrivateStore

LIST_FILE = ".worktreeinclude"


def chosen_ignored(
    store: PrivateStore, source: Worktree, user: UserSettings, patterns: Sequence[str]
) -> list[bytes]:
    """Ignored, untracked files of a checkout that the patterns or its own list choose."""
    rules = "".join(f"{pattern}\n" for pattern in patterns).encode() + _own_list(source.root)
    if not rules.strip():
        return []
    index = read_index(source.git_dir)
    with scratch_directory(store) as directory:
        (directory / "rules").write_bytes(rules)
        if index is not None:
            (directory / "index").write_bytes(index.content)
        git = store.git(source.root, directory / "index")
        listed = git.call(
            "ls-files", "-o", "-i", "-z", f"--exclude-from={directory / 'rules'}"
        ).records()
    found = [path for path in listed if not path.endswith(b"/")]
    place = ConfiguredPlace(source.root, source.git_dir, store.common_dir)
    ignored = ignored_here(store, source.root, ask_rules(place, user).answer(), found)
    return [path for path in found if path in ignored]


def _own_list(root: Path) -> bytes:
    found = lstat_inside(root, LIST_FILE.encode())
    if found is None or not stat.S_ISREG(found.st_mode):
        return b""
    return (root / LIST_FILE).read_bytes() + b"\n"


def copy_files(source: Path, target: Path, paths: Sequence[bytes]) -> list[bytes]:
    """Copy files and links that the target does not have; gives those that were copied."""
    return [path for path in paths if _copy(os.fsencode(source), target, path)]


def _copy(source: bytes, root: Path, path: bytes) -> bool:
    origin = os.path.join(source, path)
    info = os.lstat(origin)
    plain = stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode)
    taken = first_obstacle(root, path) is not None or lstat_inside(root, path) is not None
    if not plain or taken:
        return False
    goal = os.path.join(os.fsencode(root), path)
    os.makedirs(os.path.dirname(goal), exist_ok=True)
    # Whole or not at all: a copy that is cut short must not be taken for the file.
    half = goal + b".backtrail-new"
    if os.path.lexists(half):
        os.unlink(half)
    shutil.copy2(origin, half, follow_symlinks=False)
    os.rename(half, goal)
    return True
