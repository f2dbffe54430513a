"""Whether a sandbox is still the worktree that was recorded, and of this very repository.

A copied repository carries copied rows: device and inode of the common directory tell it apart
from the original, whose sandboxes it must not touch.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError, SandboxGoneError, SandboxInvalidError
from backtrail.domain.plan import SandboxKind
from backtrail.git.discovery import Worktree, gitdir_backlink, same_directory, worktree_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backtrail.domain.ids import SandboxId
    from backtrail.domain.plan import Sandbox

_HINT = "plan list shows the sandboxes of this repository"
_RESTORE = "its checkpoints are safe; plan restore brings it back"


def located(sandbox: Sandbox, common_dir: Path) -> Sandbox:
    """The sandbox with its git directory as found now; raises if it is not ours."""
    path = sandbox.path
    if not path.is_dir() or path.is_symlink():
        raise _gone(sandbox, "is missing", _RESTORE)
    worktree = worktree_at(path)
    if worktree is None:
        raise _gone(sandbox, "is no longer a git worktree", _RESTORE)
    _check_owner(sandbox, worktree.common_dir, common_dir)
    if not worktree.is_main:
        _check_linked(sandbox, worktree)
    return replace(sandbox, git_dir=worktree.git_dir)


def check_half_made(sandbox: Sandbox, common_dir: Path) -> None:
    """Raise if a sandbox that is still to be made is not for this repository to make.

    Its row may be a copy, or shared with the repository that this one was copied from. Until the
    worktree is there, the row names the git directory of the repository that makes it.
    """
    worktree = worktree_at(sandbox.path)
    if worktree is not None:
        _check_owner(sandbox, worktree.common_dir, common_dir)
    elif sandbox.kind is SandboxKind.OWN and sandbox.git_dir.is_dir():
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
    registered = same_directory(worktree.git_dir.parent, worktree.common_dir / "worktrees")
    if not registered:
        raise _invalid(sandbox, "points at a git directory that is not a worktree's", _HINT)
    backlink = gitdir_backlink(worktree.git_dir)
    if backlink is None or not same_directory(backlink.parent, sandbox.path):
        raise _gone(sandbox, "and its git directory disagree", "git worktree repair may mend this")
    if not is_marked(worktree.git_dir, sandbox.sandbox_id):
        raise _invalid(sandbox, "was replaced by another worktree", _HINT)


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
        _marker(worktree.git_dir, sandbox).touch()


def unmark_sandbox(git_dir: Path, sandbox: SandboxId) -> None:
    """Take our mark away from a worktree that stays with the user."""
    _marker(git_dir, sandbox).unlink(missing_ok=True)


def is_marked(git_dir: Path, sandbox: SandboxId) -> bool:
    """Whether a linked worktree's git directory bears the mark of this sandbox."""
    return _marker(git_dir, sandbox).exists()


def _marker(git_dir: Path, sandbox: SandboxId) -> Path:
    return git_dir / f"backtrail-{sandbox}"


def _gone(sandbox: Sandbox, what: str, hint: str) -> SandboxGoneError:
    error = _invalid(sandbox, what, hint)
    return SandboxGoneError(error.message, hint=error.hint, details=error.details)


def _invalid(sandbox: Sandbox, what: str, hint: str) -> SandboxInvalidError:
    return SandboxInvalidError(
        f"the sandbox at {str(sandbox.path)!r} {what}",
        hint=hint,
        details={"path": str(sandbox.path)},
    )
