"""Indexes of the user's: compared by what they say, and replaced under git's own locks."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from backtrail.domain.ids import SandboxId
from backtrail.git.store.store import PrivateStore, scratch_directory
from backtrail.git.user.head import UserIndex
from backtrail.git.user.locked_files import LockedFile, opened_directory

_FLAGS = re.compile(rb"  size: \d+\tflags: ([0-9a-f]+)\n")
_STAT_LINE = re.compile(rb"  (?:ctime|mtime|dev|uid): [^\n]*\n")
# assume-unchanged, intent-to-add, skip-worktree: what a person set, as opposed to what git noted.
_MEANINGFUL = 0x8000 | 0x20000000 | 0x40000000


@contextmanager
def scratch_index(store: PrivateStore, index: UserIndex) -> Generator[Path]:
    """A copy that git may work on, dated now."""
    with scratch_directory(store) as directory:
        copy = directory / "index"
        copy.write_bytes(index.content)
        yield copy


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
    with scratch_index(store, index) as copy:
        # What is unmerged or modified stays as it is, and git gives 1 for that.
        words = ("update-index", "-q", "--unmerged", "--ignore-submodules", "--refresh")
        store.git(root, copy).run(*words)
        return replace(index, content=copy.read_bytes())


def _entries(store: PrivateStore, index: UserIndex) -> bytes:
    with scratch_index(store, index) as copy:
        listed = store.git(index=copy).call("ls-files", "--stage", "--debug", "-z").stdout
    return _FLAGS.sub(_meaningful_flags, _STAT_LINE.sub(b"", listed))


def _meaningful_flags(match: re.Match[bytes]) -> bytes:
    return b"%x\n" % (int(match[1], 16) & _MEANINGFUL)


_OWN_INDEX = "backtrail-index"
_MOVES_HEAD = "is about to move HEAD of the sandbox"
HOLDS_INDEX = "holds the index of the sandbox"


def put_index(
    directory: int,
    git_dir: Path,
    index: UserIndex | None,
    *,
    deadline: float = 0.0,
    visitor: SandboxId | None = None,
) -> None:
    """Replace the index of a worktree under git's own lock; its git directory was opened.

    The date says which entries git may trust without looking; it belongs to the index. Who does
    so without holding that worktree's sandbox is a visitor, and locks under its own name.
    """
    content, date = (index.content, index.mtime_ns) if index else (None, None)
    _index_in(directory, git_dir, visitor).put(content, date_ns=date, deadline=deadline)


def remove_own_locks(git_dir: Path, visitor: SandboxId | None = None) -> None:
    """Remove a lock of the index, and but for visitors of HEAD, that we left when killed."""
    with opened_directory(git_dir) as directory:
        _index_in(directory, git_dir, visitor).release()
        if visitor is None:
            head_in(directory, git_dir).release()


def head_in(directory: int, git_dir: Path) -> LockedFile:
    """HEAD of a git directory that was opened."""
    return LockedFile(git_dir / "HEAD", directory, "backtrail-HEAD", directory, _MOVES_HEAD)


def _index_in(directory: int, git_dir: Path, visitor: SandboxId | None) -> LockedFile:
    ours = f"{_OWN_INDEX}-{visitor}" if visitor else _OWN_INDEX
    return LockedFile(git_dir / "index", directory, ours, directory, HOLDS_INDEX)
