"""Finding repositories, the user's and nested ones, by reading files alone.

Git would read a configuration that whoever made a repository has written.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from backtrail.domain.errors import FailedError, SandboxInvalidError
from backtrail.git.osfiles.plain_files import (
    LONGEST_LINE,
    LONGEST_RULES,
    NotPlainError,
    beginning_of,
    first_line,
)
from backtrail.git.user.head import user_git

WORKTREES = "worktrees"
_HEX = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"refs/[^\0\n]+")
_UNBORN = "no commit"
_HINT = "run this inside a git repository, name one with -C PATH, or make one with git init"


@dataclass(frozen=True, slots=True)
class Worktree:
    """A checkout: its root, its own git directory and the one it shares with its siblings."""

    root: Path
    git_dir: Path
    common_dir: Path

    @property
    def is_main(self) -> bool:
        return self.git_dir == self.common_dir


def find_worktree(start: Path) -> Worktree:
    """The checkout that holds a directory."""
    try:
        start = start.resolve(strict=True)
    except OSError as error:
        raise FailedError(f"there is no directory {str(start)!r}", hint=_HINT) from error
    for directory in (start, *start.parents):
        found = worktree_at(directory)
        if found is not None:
            return found
        if is_git_dir(directory):
            return Worktree(directory, directory, _common_dir(directory))
    for directory in (start, *start.parents):
        _refuse_broken(directory / ".git")
    raise FailedError(f"{str(start)!r} is not inside a git repository", hint=_HINT)


def _refuse_broken(dot_git: Path) -> None:
    """Tell of a `.git` that leads to no git directory; it is perhaps that of a sandbox."""
    if not os.path.lexists(dot_git) or os.path.isdir(dot_git):
        return
    git_dir = _git_dir_of(dot_git)
    if git_dir is None:
        wrong = "names no git directory" if os.path.isfile(dot_git) else "is not a plain file"
        raise _broken(dot_git, f"{str(dot_git)!r} {wrong}", "in its repository")
    place = odd_file(git_dir)
    wrong = f"{str(dot_git)!r} leads to {str(git_dir)!r}, which is no git directory"
    if place is not None:
        wrong = f"{str(place)!r} is not a plain file"
    repository = main_place(git_dir.parent.parent)
    is_linked = git_dir.parent.name == WORKTREES
    where = f"with plan -C {str(repository)!r}" if is_linked else "in its repository"
    raise _broken(place or dot_git, wrong, where)


def _broken(place: Path, wrong: str, where: str) -> SandboxInvalidError:
    return SandboxInvalidError(
        f"{wrong}: git could not work here either",
        hint=f"if this is the sandbox of a plan, plan save PLAN {where} says how to mend it",
        details={"path": str(place)},
    )


def odd_file(git_dir: Path) -> Path | None:
    """What of a worktree's git directory should be a plain file and is none."""
    places = (git_dir / name for name in ("HEAD", "commondir", "gitdir"))
    return next(filter(is_odd, places), None)


def is_odd(path: Path) -> bool:
    """Whether something is there that is no plain file, and leads to none."""
    return os.path.lexists(path) and not os.path.isfile(path)


def worktree_at(root: Path) -> Worktree | None:
    """The checkout whose root is this directory, or None."""
    git_dir = _git_dir_of(root / ".git")
    if git_dir is None or not is_git_dir(git_dir):
        return None
    return Worktree(root, git_dir, _common_dir(git_dir))


def _git_dir_of(dot_git: Path) -> Path | None:
    if os.path.isdir(dot_git):
        return dot_git.resolve()
    text = first_line(dot_git)
    if text is None or not text.startswith("gitdir: "):
        return None
    return Path(os.path.realpath(dot_git.parent / text.removeprefix("gitdir: ")))


def is_git_dir(path: Path) -> bool:
    # Not as Path does it: of a link whose target has too long a name it says nothing but an error.
    return os.path.isfile(path / "HEAD") and (
        os.path.isdir(path / "objects") or os.path.isfile(path / "commondir")
    )


def _common_dir(git_dir: Path) -> Path:
    text = first_line(git_dir / "commondir")
    return git_dir if text is None else Path(os.path.realpath(git_dir / text))


def main_place(common_dir: Path) -> Path:
    """Where git works in the main checkout of a repository; of a bare one, in itself."""
    return common_dir.parent if common_dir.name == ".git" else common_dir


def same_directory(one: Path, other: Path) -> bool:
    """Whether two paths are one directory, by device and inode."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def is_plain_directory(path: Path) -> bool:
    """Whether a path is a directory itself, and no link to one."""
    return os.path.isdir(path) and not path.is_symlink()


def gitdir_backlink(git_dir: Path) -> Path | None:
    """For a linked worktree: the `.git` file that its git directory believes to be its own."""
    text = first_line(git_dir / "gitdir")
    return None if text is None else Path(os.path.realpath(git_dir / text))


def names_place(git_dir: Path, place: Path) -> bool:
    """Whether the git directory of a linked worktree knows it to be at a place."""
    backlink = gitdir_backlink(git_dir)
    return backlink is not None and same_directory(backlink.parent, place)


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


def nested_head(root: Path, directory: bytes) -> str | None:
    """What a nested HEAD names, as `<commit> <branch>`; None if there is no repository."""
    worktree = worktree_at(Path(os.fsdecode(os.path.join(os.fsencode(root), directory))))
    if worktree is None:
        return None
    head = _text(worktree.git_dir / "HEAD")
    ref = head.removeprefix("ref: ")
    if ref == head or not _REF.fullmatch(ref) or ".." in ref:
        return head if _HEX.fullmatch(head) else _UNBORN
    return f"{_resolved(worktree, ref) or _UNBORN} {ref.removeprefix('refs/heads/')}"


def _resolved(worktree: Worktree, ref: str) -> str | None:
    for directory in (worktree.git_dir, worktree.common_dir):
        loose = _text(directory / ref)
        if _HEX.fullmatch(loose):
            return loose
    for line in _text(worktree.common_dir / "packed-refs", LONGEST_RULES).splitlines():
        commit, _, name = line.partition(" ")
        if name == ref and _HEX.fullmatch(commit):
            return commit
    return None


def _text(path: Path, longest: int = LONGEST_LINE) -> str:
    try:
        return beginning_of(path, longest).decode("utf-8", "surrogateescape").strip()
    except (OSError, ValueError, NotPlainError):
        return ""
