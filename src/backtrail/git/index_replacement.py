"""Replacing the index of a worktree of the user's, under the lock by which git itself does so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.git.locked_files import LockedFile, opened_directory

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.git.gitstate import UserIndex

_OWN_INDEX = "backtrail-index"
HOLDS_INDEX = "holds the index of the sandbox"


def put_index(git_dir: Path, index: UserIndex | None) -> None:
    """Replace the index of a worktree under git's own lock, with its date."""
    with opened_directory(git_dir) as directory:
        put_index_into(directory, git_dir, index)


def put_index_into(
    directory: int, git_dir: Path, index: UserIndex | None, *, deadline: float = 0.0
) -> None:
    """The same in a git directory that was opened.

    The date says which entries git may trust without looking; it belongs to the index.
    """
    content, date = (index.content, index.mtime_ns) if index else (None, None)
    _index_in(directory, git_dir).put(content, date_ns=date, deadline=deadline)


def remove_own_index_lock(git_dir: Path) -> None:
    """Remove an index lock that we took and, killed, did not let go."""
    with opened_directory(git_dir) as directory:
        _index_in(directory, git_dir).let_go()


def _index_in(directory: int, git_dir: Path) -> LockedFile:
    return LockedFile(git_dir / "index", directory, _OWN_INDEX, directory, HOLDS_INDEX)
