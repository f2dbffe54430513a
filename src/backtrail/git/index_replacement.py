"""Replacing index and HEAD of a worktree of the user's, under the locks by which git does so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.git.locked_files import LockedFile, opened_directory

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.ids import SandboxId
    from backtrail.git.gitstate import UserIndex

_OWN_INDEX = "backtrail-index"
_MOVES_HEAD = "is about to move HEAD of the sandbox"
HOLDS_INDEX = "holds the index of the sandbox"


def put_index(git_dir: Path, index: UserIndex | None, visitor: SandboxId | None = None) -> None:
    """Replace the index of a worktree under git's own lock, with its date.

    Who does so without holding that worktree's sandbox is a visitor, and locks under its own name.
    """
    with opened_directory(git_dir) as directory:
        put_index_into(directory, git_dir, index, visitor=visitor)


def put_index_into(
    directory: int,
    git_dir: Path,
    index: UserIndex | None,
    *,
    deadline: float = 0.0,
    visitor: SandboxId | None = None,
) -> None:
    """The same in a git directory that was opened.

    The date says which entries git may trust without looking; it belongs to the index.
    """
    content, date = (index.content, index.mtime_ns) if index else (None, None)
    _index_in(directory, git_dir, visitor).put(content, date_ns=date, deadline=deadline)


def remove_own_locks(git_dir: Path) -> None:
    """Remove a lock of index or HEAD that we took and, killed, did not let go."""
    with opened_directory(git_dir) as directory:
        _index_in(directory, git_dir, None).let_go()
        head_in(directory, git_dir).let_go()


def remove_visitors_lock(git_dir: Path, visitor: SandboxId) -> None:
    """The same of an index lock that was taken as a visitor."""
    with opened_directory(git_dir) as directory:
        _index_in(directory, git_dir, visitor).let_go()


def head_in(directory: int, git_dir: Path) -> LockedFile:
    """HEAD of a git directory that was opened."""
    return LockedFile(git_dir / "HEAD", directory, "backtrail-HEAD", directory, _MOVES_HEAD)


def _index_in(directory: int, git_dir: Path, visitor: SandboxId | None) -> LockedFile:
    ours = f"{_OWN_INDEX}-{visitor}" if visitor else _OWN_INDEX
    return LockedFile(git_dir / "index", directory, ours, directory, HOLDS_INDEX)
