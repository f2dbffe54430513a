"""Whether a sandbox is still the worktree that was recorded, and of this very repository.

A copied repository carries copied rows: device and inode of the common directory tell it apart
from the original, whose sandboxes it must not touch. And whoever works in a sandbox can write
its `.git`: where that leads is believed only if it is the git directory that was recorded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from backtrail.domain.errors import RefusedError, SandboxGoneError, SandboxInvalidError
from backtrail.domain.ids import SandboxId
from backtrail.domain.plan import Sandbox, SandboxKind
from backtrail.git.user.discovery import (
    WORKTREES,
    Worktree,
    is_plain_directory,
    main_root,
    names_place,
    same_directory,
    worktree_at,
)
from backtrail.git.user.locked_files import opened_directory

_HINT = "plan list shows the sandboxes of this repository"
_RESTORE = "its checkpoints are safe; plan restore brings it back"
_REPAIR = (
    "git worktree repair in the repository puts its .git right; if it does not, move the sandbox "
    "away, and plan restore brings the latest checkpoint back"
)
_TAIL = 8
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+|\.{2,}|\.lock$")


def located(sandbox: Sandbox, common_dir: Path) -> Sandbox:
    """The sandbox with its git directory as found now; raises if it is not ours."""
    path = sandbox.path
    if not os.path.isdir(path) or path.is_symlink():
        raise _invalid(sandbox, "is missing", _RESTORE, SandboxGoneError)
    worktree = worktree_at(path)
    if worktree is None:
        raise _invalid(sandbox, "is no longer a git worktree", _RESTORE, SandboxGoneError)
    _check_owner(sandbox, worktree.common_dir, common_dir)
    if is_linked(sandbox, common_dir):
        _check_linked(sandbox, worktree)
    elif not worktree.is_main:
        raise _invalid(sandbox, "is no longer the main checkout", _REPAIR)
    return replace(sandbox, git_dir=worktree.git_dir, inode=inode_of(worktree.git_dir.stat()))


@contextmanager
def opened_git_dir(sandbox: Sandbox, common_dir: Path) -> Generator[int]:
    """A descriptor of a sandbox's own git directory, as it is now and as it was when looked at.

    What is put in the place of that directory from now on is not what is written to.
    """
    now = located(sandbox, common_dir)
    with opened_directory(now.git_dir) as directory:
        found = inode_of(os.fstat(directory))
        if found != now.inode or found != (sandbox.inode or found):
            raise _invalid(sandbox, "was exchanged meanwhile", _REPAIR)
        yield directory


def inode_of(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def is_linked(sandbox: Sandbox, common_dir: Path) -> bool:
    """Whether a sandbox is a linked worktree: all are but a main checkout that was attached."""
    if sandbox.kind is SandboxKind.OWN:
        return True
    recorded = sandbox.git_dir
    return recorded.parent.name == WORKTREES and not same_directory(recorded, common_dir)


def registered_git_dir(sandbox: Sandbox, common_dir: Path) -> Path | None:
    """The sandbox's own directory below `.git/worktrees`: no link, with a name and our mark."""
    for git_dir in possible_git_dirs(sandbox, common_dir):
        plain = is_plain_directory(git_dir.parent) and is_plain_directory(git_dir)
        if plain and os.path.lexists(git_dir / mark_name(sandbox.sandbox_id)):
            return git_dir
    return None


def possible_git_dirs(sandbox: Sandbox, common_dir: Path) -> tuple[Path, Path]:
    """Where its git directory is or can be: as recorded, or else under a name that is free.

    Before anything is recorded it is called as git would call it. The other name is unlike any.
    """
    spoken = _NOT_IN_NAMES.sub("-", sandbox.path.name).strip("-.") or "sandbox"
    recorded = sandbox.git_dir.name if sandbox.git_dir.parent.name == WORKTREES else spoken
    unlike = f"{spoken}-{sandbox.sandbox_id[-_TAIL:].lower()}"
    return common_dir / WORKTREES / recorded, common_dir / WORKTREES / unlike


def check_half_made(sandbox: Sandbox, common_dir: Path) -> None:
    """Raise if a sandbox that is still to be made is not for this repository to make.

    Its row may be a copy, or shared with the repository that this one was copied from. Until the
    worktree is there, the row names the git directory of the repository that makes it.
    """
    worktree = worktree_at(sandbox.path)
    if worktree is not None:
        _check_owner(sandbox, worktree.common_dir, common_dir)
    elif sandbox.kind is SandboxKind.OWN and os.path.isdir(sandbox.git_dir):
        _check_owner(sandbox, sandbox.git_dir, common_dir)


def _check_owner(sandbox: Sandbox, owner: Path, common_dir: Path) -> None:
    if not same_directory(owner, common_dir):
        raise _invalid(
            sandbox,
            "belongs to another repository",
            "a copied repository must not act on the sandboxes of the original; "
            "create a plan of its own here",
        )


def _check_linked(sandbox: Sandbox, worktree: Worktree) -> None:
    registered = same_directory(worktree.git_dir.parent, worktree.common_dir / WORKTREES)
    if not registered:
        raise _invalid(sandbox, "points at a git directory that is not a worktree's", _REPAIR)
    if not names_place(worktree.git_dir, sandbox.path):
        hint = "git worktree repair may mend this"
        raise _invalid(sandbox, "and its git directory disagree", hint, SandboxGoneError)
    own = registered_git_dir(sandbox, worktree.common_dir)
    if own is None or not same_directory(own, worktree.git_dir):
        raise _invalid(sandbox, "was replaced by another worktree", _HINT)


def is_checkout(worktree: Worktree, sandbox: Sandbox, common_dir: Path) -> bool:
    """Whether a directory may be attached: it and a git directory of the repository are a pair.

    A worktree that was attached before may have been moved since, which only its own part knows.
    """
    if not same_directory(worktree.common_dir, common_dir):
        return False
    if worktree.is_main:
        around = main_root(common_dir) if common_dir.name == ".git" else worktree.root
        return around is not None and same_directory(around, worktree.root)
    if not same_directory(worktree.git_dir.parent, common_dir / WORKTREES):
        return False
    agreed = names_place(worktree.git_dir, worktree.root)
    return agreed or worktree.git_dir.name == sandbox.git_dir.name


def refuse_own_files_inside(root: Path, own: Iterable[Path]) -> None:
    """Refuse a sandbox that holds our own files: a rollback would roll back Backtrail itself."""
    for path in own:
        real = Path(os.path.realpath(path))
        below = real.is_relative_to(root) and not real.is_relative_to(root / ".git")
        if below:
            raise RefusedError(
                f"{str(path)!r} lies inside the sandbox {str(root)!r}: it would be rolled back",
                hint="keep PLAN_HOME, the database and the git directory out of the sandbox",
            )


def refuse_absurd(root: Path, home: str | None) -> None:
    """Refuse a sandbox that nobody can mean: everything, or all that belongs to the user."""
    for place, what in ((Path("/"), "the whole file system"), (home, "your home directory")):
        if place and os.path.realpath(place) == os.path.realpath(root):
            raise RefusedError(
                f"{str(root)!r} is {what}: it cannot be a sandbox",
                hint="make a plan with a worktree of its own: plan create NAME",
            )


def mark_as_sandbox(worktree: Worktree, sandbox: SandboxId) -> None:
    """Leave our mark in a linked worktree's git directory: it goes when the worktree goes."""
    if not worktree.is_main:
        (worktree.git_dir / mark_name(sandbox)).touch()


def unmark_sandbox(git_dir: Path, sandbox: SandboxId) -> None:
    """Take our mark away from a worktree that stays with the user."""
    (git_dir / mark_name(sandbox)).unlink(missing_ok=True)


def mark_name(sandbox: SandboxId) -> str:
    """What the file is called by which a git directory is known as a sandbox's."""
    return f"backtrail-{sandbox}"


def _invalid(
    sandbox: Sandbox,
    what: str,
    hint: str,
    kind: type[SandboxInvalidError] = SandboxInvalidError,
) -> SandboxInvalidError:
    path = str(sandbox.path)
    return kind(f"the sandbox at {path!r} {what}", hint=hint, details={"path": path})
