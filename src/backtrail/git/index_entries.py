"""Comparing two indexes by what they say, not by their bytes: any git status may refresh dates."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.git.ignore import scratch_directory

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.git.gitstate import UserIndex
    from backtrail.git.store import PrivateStore

_FLAGS = re.compile(rb"  size: \d+\tflags: ([0-9a-f]+)\n")
_STAT_LINE = re.compile(rb"  (?:ctime|mtime|dev|uid): [^\n]*\n")
# assume-unchanged, intent-to-add, skip-worktree: what a person set, as opposed to what git noted.
_MEANINGFUL = 0x8000 | 0x20000000 | 0x40000000


def same_entries(store: PrivateStore, one: UserIndex | None, other: UserIndex | None) -> bool:
    """Whether two indexes hold the same paths, stages, objects and flags."""
    if one is None or other is None:
        return one is other
    return one.content == other.content or _entries(store, one) == _entries(store, other)


def with_present_dates(store: PrivateStore, root: Path, index: UserIndex) -> UserIndex:
    """The same index, with dates and inodes of the files that hold just what it says.

    Files that were written anew have others, and `git merge --abort` believes nothing else. The
    date of the index itself stays: git goes on looking into every file that is newer.
    """
    with scratch_directory(store) as directory:
        copy = directory / "index"
        copy.write_bytes(index.content)
        # What is unmerged or modified stays as it is, and git gives 1 for that.
        words = ("update-index", "-q", "--unmerged", "--ignore-submodules", "--refresh")
        store.git(root, copy).run(*words)
        return replace(index, content=copy.read_bytes())


def _entries(store: PrivateStore, index: UserIndex) -> bytes:
    with scratch_directory(store) as directory:
        copy = directory / "index"
        copy.write_bytes(index.content)
        listed = store.git(index=copy).call("ls-files", "--stage", "--debug", "-z").stdout
    return _FLAGS.sub(_meaningful_flags, _STAT_LINE.sub(b"", listed))


def _meaningful_flags(match: re.Match[bytes]) -> bytes:
    return b"%x\n" % (int(match[1], 16) & _MEANINGFUL)
