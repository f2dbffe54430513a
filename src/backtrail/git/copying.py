"""Chosen ignored files of the main checkout, brought along into a new sandbox.

Patterns are those of .gitignore, from `[sandbox] copy` and from a file `.worktreeinclude`. What
matches is copied only if git ignores it, and only where nothing is yet; links stay links.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from backtrail.domain.errors import FailedError
from backtrail.git.beneath import Beneath
from backtrail.git.gitstate import read_index
from backtrail.git.ignore import ConfiguredPlace, ask_rules, scratch_directory
from backtrail.git.judging import ignored_here
from backtrail.git.staging import copy_entry, move_where_free

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backtrail.git.discovery import Worktree
    from backtrail.git.ignore import UserSettings
    from backtrail.git.store import PrivateStore

LIST_FILE = ".worktreeinclude"
LONGEST_LIST = 64 * 1024


def lines_of(root: Path, patterns: Sequence[str]) -> tuple[str, ...]:
    """The patterns and the lines of a checkout's own list, as of one .gitignore."""
    own = (line.removesuffix("\r") for line in os.fsdecode(_own_list(root)).split("\n"))
    return tuple(line for line in (*patterns, *own) if line.strip() and not line.startswith("#"))


def chosen_ignored(
    store: PrivateStore, source: Worktree, user: UserSettings, patterns: Sequence[str]
) -> list[bytes]:
    """Ignored, untracked files of a checkout that the patterns or its own list choose."""
    rules = b"".join(os.fsencode(line) + b"\n" for line in lines_of(source.root, patterns))
    if not rules:
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
    try:
        # A link is no list, and a FIFO would block a plain reading for ever.
        descriptor = os.open(root / LIST_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        text = file.read(LONGEST_LIST + 1) if plain else b""
    if len(text) > LONGEST_LIST:
        raise FailedError(
            f"{LIST_FILE!r} of the main checkout is larger than 64 KiB",
            hint="let it name the few files that a new sandbox needs",
        )
    return text


def copy_files(source: Path, target: Path, paths: Sequence[bytes]) -> list[bytes]:
    """Copy files and links that the target does not have; gives those that were copied."""
    with Beneath(source) as origin, Beneath(target) as inside:
        return [path for path in paths if _copy(origin, inside, path)]


def _copy(origin: Beneath, inside: Beneath, path: bytes) -> bool:
    info = origin.lstat(path)
    plain = info is not None and (stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode))
    if not plain or inside.lstat(path) is not None:
        return False
    source, name = origin.above(path)
    try:
        directory = inside.make_directory(path.rpartition(b"/")[0])
        # Whole or not at all: a copy that is cut short must not be taken for the file.
        half = name + b".backtrail-new"
        with suppress(FileNotFoundError):
            os.unlink(half, dir_fd=directory)
        copy_entry(name, half, source_directory=source, target_directory=directory)
        move_where_free(half, name, source_directory=directory, target_directory=directory)
    except (FileExistsError, NotADirectoryError):
        return False
    return True
