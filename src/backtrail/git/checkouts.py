"""Where a branch of the user's is checked out, and whether its files may follow it there."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.git.discovery import gitdir_backlink
from backtrail.git.gitstate import read_index, user_git
from backtrail.git.ignore import scratch_directory
from backtrail.git.locks import wait_for_git
from backtrail.git.merge_state import under_way
from backtrail.git.paths import first_obstacle, lstat_inside
from backtrail.git.plain_files import NotPlainError, beginning_of
from backtrail.git.walking import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backtrail.git.runner import GitRunner
    from backtrail.git.store import PrivateStore
    from backtrail.git.users_git import UsersGit

_AT_WORK = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")
"""Where git notes the branch that it goes back to when a rebase or a bisect ends."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working tree of the user's, and the git directory that it goes with."""

    root: Path
    git_dir: Path


def checkouts_of(common_dir: Path, ref: str) -> list[Checkout]:
    """Every checkout of a branch; refuses where one of them cannot be looked at."""
    found: list[Checkout] = []
    for git_dir in _git_dirs(common_dir):
        _refuse_if_at_work(git_dir, ref)
        if _text(git_dir / "HEAD") != f"ref: {ref}":
            continue
        root = main_root(common_dir) if git_dir == common_dir else _linked_root(git_dir)
        if root is not None:
            found.append(Checkout(root, git_dir))
    return found


def _git_dirs(common_dir: Path) -> list[Path]:
    linked = common_dir / "worktrees"
    return [common_dir, *(sorted(linked.iterdir()) if linked.is_dir() else ())]


def _text(path: Path) -> str:
    try:
        return beginning_of(path).decode("utf-8", "surrogateescape").strip()
    except (FileNotFoundError, NotADirectoryError, NotPlainError):
        return ""


def _refuse_if_at_work(git_dir: Path, ref: str) -> None:
    branch = ref.removeprefix("refs/heads/")
    if any(_text(git_dir / name) in (ref, branch) for name in _AT_WORK):
        raise RefusedError(
            f"branch {branch!r} is being rebased or bisected",
            hint="finish or abort that first; git status in its checkout says how",
            details={"git_dir": str(git_dir)},
        )


def main_root(common_dir: Path) -> Path | None:
    """The checkout that a repository was made with; None for a bare one."""
    git = user_git(common_dir)
    config = ("config", "--file", str(common_dir / "config"), "--get")
    if git.run(*config, "--type=bool", "core.bare").text == "true":
        return None
    configured = git.run(*config, "core.worktree").text
    if configured:
        return Path(os.path.realpath(common_dir / configured))
    return common_dir.parent if common_dir.name == ".git" else None


def _linked_root(git_dir: Path) -> Path:
    backlink = gitdir_backlink(git_dir)
    if backlink is None or not backlink.exists():
        raise RefusedError(
            f"the branch is checked out in a worktree that is not there: {backlink or git_dir}",
            hint="bring it back, or forget it with git worktree prune",
        )
    return backlink.parent


def refuse_busy(checkout: Checkout, deadline: float) -> None:
    """Refuse a checkout in which something is under way; another git may end until a deadline."""
    what = f"is at work in {str(checkout.root)!r}"
    wait_for_git(checkout.git_dir / "index.lock", what, deadline)
    what = under_way(checkout.git_dir)
    if what:
        raise RefusedError(
            f"{what} is under way in {str(checkout.root)!r}, where the branch is checked out",
            hint="finish or abort it first; git status there says how",
        )


def refuse_dirty(
    store: PrivateStore, users: UsersGit, checkout: Checkout, old: str, new: str
) -> None:
    """Refuse if the checkout has work of its own in a path that differs between two trees."""
    with scratch_directory(store) as directory:
        index = directory / "index"
        present = read_index(checkout.git_dir)
        if present is not None:
            index.write_bytes(present.content)
            os.utime(index, ns=(present.mtime_ns, present.mtime_ns))
        git = users.on(checkout.root, index, checkout.git_dir)
        concerned = _differing(git, old, new)
        dirty = sorted({*_in_the_way(git, checkout.root, concerned), *_edited(git, old, concerned)})
    if dirty:
        raise RefusedError(
            f"{str(checkout.root)!r} has work of its own in what would be changed there; "
            "nothing was changed",
            hint="commit it, stash it or move it away, then apply again",
            details={"paths": [os.fsdecode(path) for path in dirty]},
        )


def _differing(git: GitRunner, old: str, new: str) -> set[bytes]:
    output = git.call("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
    return set(output.records())


def _edited(git: GitRunner, old: str, concerned: set[bytes]) -> Iterator[bytes]:
    """Staged or unstaged changes in the paths concerned, and unmerged paths wherever they are."""
    _refresh(git)
    staged = git.call("diff-index", "--cached", "-z", "--name-only", "--no-renames", old).records()
    changed = git.call("diff-files", "--ignore-submodules=all", "-z", "--name-only").records()
    unmerged = {record.split(b"\t", 1)[1] for record in git.call("ls-files", "-u", "-z").records()}
    yield from unmerged
    yield from (path for path in (*staged, *changed) if _touches(path, concerned))


def _refresh(git: GitRunner) -> None:
    """Let an index see that files are the same although their dates are not, as `status` does.

    Exit code 1 says that some file differs, which whoever asks next will tell better.
    """
    git.run("update-index", "-q", "--refresh", "--ignore-submodules")


def _touches(path: bytes, concerned: set[bytes]) -> bool:
    """Whether a path is one of those concerned, or in the place of a directory above one."""
    parts = path.split(b"/")
    if any(b"/".join(parts[:count]) in concerned for count in range(1, len(parts) + 1)):
        return True
    return any(other.startswith(path + b"/") for other in concerned)


def _in_the_way(git: GitRunner, root: Path, concerned: set[bytes]) -> Iterator[bytes]:
    """Files that git does not track, ignored ones included, where something else would go."""
    tracked = set(git.call("ls-files", "-z").records())
    for path in concerned:
        obstacle = first_obstacle(root, path)
        if obstacle is not None:
            if obstacle not in tracked:
                yield obstacle
            continue
        found = lstat_inside(root, path)
        if found is None or path in tracked:
            continue
        if stat.S_ISDIR(found.st_mode):
            yield from _untracked_below(root, path, tracked)
        else:
            yield path


def _untracked_below(root: Path, directory: bytes, tracked: set[bytes]) -> Iterator[bytes]:
    for where, entries in walk(root, directory, passing=b""):
        for entry in entries:
            path = os.path.join(where, entry.name)
            if path not in tracked and not entry.is_dir(follow_symlinks=False):
                yield path


def follow(users: UsersGit, checkout: Checkout, old: str, new: str) -> None:
    """Bring index and files from one tree to another; all other edits, staged or not, stay."""
    git = users.on(checkout.root, checkout.git_dir / "index", checkout.git_dir)
    _refresh(git)
    output = git.run("read-tree", "-m", "-u", old, new)
    if output.code:
        said = output.complaint()
        raise RefusedError(
            f"git cannot update the files in {str(checkout.root)!r}: {said.splitlines()[0]}",
            hint="put that right and apply again; the branch was not moved",
            details={"stderr": said},
        )
