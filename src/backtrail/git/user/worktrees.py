"""Making a directory a linked worktree of the user's repository (again), whatever is in it.

`git worktree add` makes a worktree file by file, and one that is killed leaves a name that is
neither free nor a worktree, or a repository in which `git worktree list` fails. So the directory
below `.git/worktrees` is written in a place of our own and gets its name in one step: it is there
whole or not at all. The `.git` that names it is there before, so that git never finds a worktree
without its files and prunes it.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from backtrail.domain.ids import CommitId
from backtrail.domain.plan import Sandbox
from backtrail.git.osfiles.beneath import parents_of
from backtrail.git.osfiles.durable import fsync_directory
from backtrail.git.osfiles.paths import exists_inside, is_directory_inside
from backtrail.git.osfiles.plain_files import first_line
from backtrail.git.user.branches import log_line
from backtrail.git.user.discovery import (
    WORKTREES,
    gitdir_backlink,
    names_place,
    same_directory,
    worktree_at,
)
from backtrail.git.user.head import user_git
from backtrail.git.user.identity import mark_name, possible_git_dirs, registered_git_dir
from backtrail.git.user.locked_files import opened_directory, write_new

_GIT_DIR = b"gitdir: "


def register(
    common_dir: Path, sandbox: Sandbox, path: Path, commit: CommitId, branch: str | None = None
) -> Path:
    """Make a worktree at a path, without an index, its HEAD at a commit or on a branch there.

    Files that are there stay. Gives the worktree's git directory.
    """
    git_dir = free_git_dir(common_dir, sandbox)
    building = common_dir / f"backtrail-{sandbox.sandbox_id}.new"
    try:
        _build(common_dir, building, sandbox, path, commit, branch)
        place(path, git_dir, sandbox)
        git_dir.parent.mkdir(exist_ok=True)
        building.rename(git_dir)
    except OSError:
        for made in (building, _fresh(path, sandbox)):
            shutil.rmtree(made, ignore_errors=True)
        raise
    fsync_directory(git_dir.parent)
    return git_dir


def free_git_dir(common_dir: Path, sandbox: Sandbox) -> Path:
    """Where the sandbox's git directory was or would be, unless somebody else has that name."""
    wanted, unlike = possible_git_dirs(sandbox, common_dir)
    return unlike if os.path.lexists(wanted) else wanted


def _build(
    common_dir: Path,
    building: Path,
    sandbox: Sandbox,
    path: Path,
    commit: CommitId,
    branch: str | None,
) -> None:
    """Write all that git writes for a new worktree where git does not look."""
    head = f"ref: refs/heads/{branch}" if branch else commit
    (building / "logs").mkdir(parents=True, exist_ok=True)
    with opened_directory(building) as directory:
        write_new("HEAD", f"{head}\n".encode(), directory)
        write_new("commondir", b"../..\n", directory)
        write_new("gitdir", os.fsencode(path / ".git") + b"\n", directory)
        write_new(mark_name(sandbox.sandbox_id), b"", directory)
    with opened_directory(building / "logs") as logs:
        write_new("HEAD", log_line(None, commit, ""), logs)
    _copy_settings(common_dir, building)
    fsync_directory(building)


def _copy_settings(common_dir: Path, building: Path) -> None:
    """What git copies for a new worktree: the main one's own settings, and what is in its cone."""
    git, settings = user_git(common_dir), building / "config.worktree"
    if (common_dir / settings.name).is_file():
        shutil.copyfile(common_dir / settings.name, settings)
        for key in ("core.bare", "core.worktree"):
            git.run("config", "--file", str(settings), "--unset-all", key)
    rules = common_dir / "info" / "sparse-checkout"
    sparse = ("config", "--get", "--type=bool", "core.sparseCheckout")
    if rules.is_file() and git.run(*sparse).text == "true":
        (building / "info").mkdir(exist_ok=True)
        shutil.copyfile(rules, building / "info" / rules.name)


def place(path: Path, git_dir: Path, sandbox: Sandbox) -> None:
    """Have a directory at a path whose `.git` leads to a git directory; files there stay."""
    text = _GIT_DIR + os.fsencode(git_dir) + b"\n"
    fresh = _fresh(path, sandbox)
    if not os.path.lexists(path):
        fresh.mkdir(parents=True, exist_ok=True)
        with opened_directory(fresh) as directory:
            write_new(".git", text, directory)
        fresh.rename(path)
        fsync_directory(path.parent)
        return
    with opened_directory(path) as directory:
        # One that was not renamed in time is written anew: it is no file of the sandbox's.
        written = f".git.backtrail-{sandbox.sandbox_id}"
        write_new(written, text, directory)
        os.rename(written, ".git", src_dir_fd=directory, dst_dir_fd=directory)
        os.fsync(directory)


def _fresh(path: Path, sandbox: Sandbox) -> Path:
    return path.with_name(f".backtrail-{sandbox.sandbox_id}.new")


def connect(path: Path, git_dir: Path, sandbox: Sandbox) -> None:
    """Let a worktree and its git directory name each other, unless they do."""
    with opened_directory(git_dir) as directory:
        if not names_place(git_dir, path):
            write_new("gitdir.backtrail", os.fsencode(path / ".git") + b"\n", directory)
            os.rename("gitdir.backtrail", "gitdir", src_dir_fd=directory, dst_dir_fd=directory)
            os.fsync(directory)
    found = worktree_at(path)
    if found is None or not same_directory(found.git_dir, git_dir):
        place(path, git_dir, sandbox)


def unregister(common_dir: Path, sandbox: Sandbox) -> None:
    """Take back a worktree that could not be filled; what somebody else put there stays."""
    git_dir = registered_git_dir(sandbox, common_dir)
    if git_dir is None:
        return
    _delete_files_of_head(git_dir, sandbox.path)
    gone = common_dir / f"backtrail-{sandbox.sandbox_id}.new"
    git_dir.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)
    unplace(sandbox.path, common_dir)


def unplace(path: Path, common_dir: Path) -> None:
    """Take a `.git` away that leads nowhere, and the directory if nothing else is in it."""
    if lost_its_git_dir(path, common_dir):
        (path / ".git").unlink()
        with suppress(OSError):
            path.rmdir()


def _delete_files_of_head(git_dir: Path, root: Path) -> None:
    names = user_git(git_dir).call("ls-tree", "-r", "-z", "--name-only", "HEAD").records()
    top = os.fsencode(root)
    for name in names:
        with suppress(OSError):
            if exists_inside(root, name):
                os.unlink(os.path.join(top, name))
    above = {parent for name in names for parent in parents_of(name)}
    for directory in sorted(above, reverse=True):
        with suppress(OSError):
            if is_directory_inside(root, directory):
                os.rmdir(os.path.join(top, directory))


def lost_its_git_dir(path: Path, common_dir: Path) -> bool:
    """Whether a directory is a worktree of this repository whose git directory was pruned."""
    dot_git = path / ".git"
    if path.is_symlink() or dot_git.is_symlink() or not dot_git.is_file():
        return False
    line = os.fsencode(first_line(dot_git) or "")
    git_dir = Path(os.path.realpath(path / os.fsdecode(line.removeprefix(_GIT_DIR))))
    ours = same_directory(git_dir.parent.parent, common_dir) and git_dir.parent.name == WORKTREES
    return line.startswith(_GIT_DIR) and ours and not os.path.lexists(git_dir)


def moved_to(common_dir: Path, sandbox: Sandbox) -> Path | None:
    """Where git knows the worktree of a sandbox to be now, if it is there."""
    git_dir = registered_git_dir(sandbox, common_dir)
    backlink = gitdir_backlink(git_dir) if git_dir else None
    found = worktree_at(backlink.parent) if backlink else None
    if git_dir is None or found is None or not same_directory(found.git_dir, git_dir):
        return None
    return found.root


def names_back(sandbox: Sandbox, common_dir: Path) -> bool:
    """Whether a sandbox's own git directory knows its place, whatever the `.git` there says."""
    git_dir = registered_git_dir(sandbox, common_dir)
    return git_dir is not None and names_place(git_dir, sandbox.path)
