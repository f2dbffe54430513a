"""Making a directory a linked worktree of the user's repository (again), whatever is in it.

`git worktree add` wants a place that is empty. So it is given one of ours, and the two files by
which a worktree and its git directory know each other are then pointed at the real place.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.git.discovery import gitdir_backlink, same_directory, worktree_at
from backtrail.git.durable import write_durably
from backtrail.git.identity import is_marked, mark_as_sandbox
from backtrail.git.ignore import scratch_directory

if TYPE_CHECKING:
    from backtrail.domain.ids import CommitId, SandboxId
    from backtrail.git.store import PrivateStore
    from backtrail.git.worktree import UserRepository

_GIT_DIR = b"gitdir: "


def register(
    store: PrivateStore,
    repository: UserRepository,
    path: Path,
    commit: CommitId,
    sandbox: SandboxId,
) -> None:
    """Make a worktree at a path, without an index, its HEAD at a commit; files there stay."""
    path.mkdir(parents=True, exist_ok=True)
    with scratch_directory(store) as directory:
        lent = directory / path.name
        repository.add_detached(lent, commit)
        worktree = worktree_at(lent)
        if worktree is not None:
            mark_as_sandbox(worktree, sandbox)
            connect(path, worktree.git_dir)


def connect(path: Path, git_dir: Path) -> None:
    """Let a worktree and its git directory name each other, unless they do."""
    found, backlink = worktree_at(path), gitdir_backlink(git_dir)
    there = found is not None and same_directory(found.git_dir, git_dir)
    if there and backlink is not None and same_directory(backlink.parent, path):
        return
    write_durably(git_dir / "gitdir", os.fsencode(path / ".git") + b"\n")
    write_durably(path / ".git", _GIT_DIR + os.fsencode(git_dir) + b"\n")


def lost_its_git_dir(path: Path, common_dir: Path) -> bool:
    """Whether a directory is a worktree of this repository whose git directory was pruned."""
    dot_git = path / ".git"
    if path.is_symlink() or dot_git.is_symlink() or not dot_git.is_file():
        return False
    line = dot_git.read_bytes().rstrip(b"\r\n")
    git_dir = Path(os.path.realpath(path / os.fsdecode(line.removeprefix(_GIT_DIR))))
    ours = same_directory(git_dir.parent.parent, common_dir) and git_dir.parent.name == "worktrees"
    return line.startswith(_GIT_DIR) and ours and not git_dir.exists()


def marked_git_dir(common_dir: Path, sandbox: SandboxId) -> Path | None:
    """The directory below `.git/worktrees` that bears the mark of a sandbox."""
    found = sorted((common_dir / "worktrees").glob("*/"))
    return next((git_dir for git_dir in found if is_marked(git_dir, sandbox)), None)


def moved_to(common_dir: Path, sandbox: SandboxId) -> Path | None:
    """Where git knows the worktree of a sandbox to be now, if it is there."""
    git_dir = marked_git_dir(common_dir, sandbox)
    backlink = gitdir_backlink(git_dir) if git_dir else None
    found = worktree_at(backlink.parent) if backlink else None
    if git_dir is None or found is None or not same_directory(found.git_dir, git_dir):
        return None
    return found.root
