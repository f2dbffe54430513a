"""Where a branch is checked out: the one search through the worktrees of a repository."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backtrail.domain.errors import RefusedError
from backtrail.git.osfiles.plain_files import NotPlainError, beginning_of
from backtrail.git.user.discovery import WORKTREES, gitdir_backlink, main_root
from backtrail.git.user.head import HEADS, may_be_links

_AT_WORK = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")
"""Where git notes the branch that it goes back to when a rebase or a bisect ends."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working tree of the user's, and the git directory that it goes with."""

    root: Path
    git_dir: Path


def branch_checked_out_elsewhere(common_dir: Path, git_dir: Path, branch: str) -> str | None:
    """The git directory of another worktree whose HEAD is on the branch."""
    on = _on(common_dir, HEADS + branch, follow=False)
    found = (other for other in on if other != git_dir)
    return next(map(str, found), None)


def checkouts_of(common_dir: Path, ref: str) -> list[Checkout]:
    """Every checkout of a branch; refuses where one of them cannot be looked at."""
    for git_dir in _git_dirs(common_dir):
        _refuse_if_at_work(git_dir, ref)
    on = _on(common_dir, ref, follow=True)
    roots = ((_root(common_dir, git_dir), git_dir) for git_dir in on)
    return [Checkout(root, git_dir) for root, git_dir in roots if root is not None]


def _git_dirs(common_dir: Path) -> list[Path]:
    linked = common_dir / WORKTREES
    return [common_dir, *(sorted(linked.iterdir()) if linked.is_dir() else ())]


def _on(common_dir: Path, ref: str, *, follow: bool) -> Iterator[Path]:
    """The git directories whose HEAD is on a branch; git itself follows one that is a link."""
    for git_dir in _git_dirs(common_dir):
        head = _text(git_dir / "HEAD", follow=follow or may_be_links(git_dir))
        if head == f"ref: {ref}":
            yield git_dir


def _text(path: Path, *, follow: bool = True) -> str:
    try:
        return beginning_of(path, follow=follow).decode("utf-8", "surrogateescape").strip()
    except (FileNotFoundError, NotADirectoryError, NotPlainError):
        return ""


def _refuse_if_at_work(git_dir: Path, ref: str) -> None:
    branch = ref.removeprefix(HEADS)
    if any(_text(git_dir / name) in (ref, branch) for name in _AT_WORK):
        raise RefusedError(
            f"branch {branch!r} is being rebased or bisected",
            hint="finish or abort that first; git status in its checkout says how",
            details={"git_dir": str(git_dir)},
        )


def _root(common_dir: Path, git_dir: Path) -> Path | None:
    if git_dir == common_dir:
        return main_root(common_dir)
    backlink = gitdir_backlink(git_dir)
    if backlink is None or not os.path.exists(backlink):
        raise RefusedError(
            f"the branch is checked out in a worktree that is not there: {backlink or git_dir}",
            hint="bring it back, or forget it with git worktree prune",
        )
    return backlink.parent
