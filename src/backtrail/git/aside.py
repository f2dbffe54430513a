"""Setting directories aside as they are: a rename on their own file system, which loses nothing.

A checkpoint does not hold ignored or oversize files, special files, or the history of a nested
repository. So a sandbox is not deleted when it is removed: it is moved out of the way, whole, and
so is the directory below `.git/worktrees` that makes it a worktree.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backtrail.domain.errors import FailedError
from backtrail.git.beneath import Beneath
from backtrail.git.durable import fsync_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backtrail.domain.plan import Sandbox
    from backtrail.git.store import StoreLayout

_TREE, _GIT, _WAS = "tree", "git_dir", "git_dir_was"


@dataclass(frozen=True, slots=True)
class SetAside:
    """Where the two halves of a removed sandbox lie."""

    tree: Path
    git_dir: Path
    git_dir_was: Path
    """Where the git directory was, and goes again."""

    def as_document(self) -> dict[str, str]:
        return {_TREE: str(self.tree), _GIT: str(self.git_dir), _WAS: str(self.git_dir_was)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> SetAside:
        return cls(Path(document[_TREE]), Path(document[_GIT]), Path(document[_WAS]))


def place_for(layout: StoreLayout, sandbox: Sandbox, common_dir: Path) -> SetAside:
    """Where a sandbox can be moved by renaming alone: below our home, else beside itself."""
    home, name = layout.trash(sandbox.sandbox_id), f".backtrail-{sandbox.sandbox_id}"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    near = _can_rename(sandbox.path.parent, home)
    near_git = _can_rename(common_dir, home)
    return SetAside(
        tree=home / _TREE if near else sandbox.path.with_name(name),
        git_dir=home / "git" if near_git else common_dir / name.lstrip("."),
        git_dir_was=sandbox.git_dir,
    )


def _can_rename(source: Path, target: Path) -> bool:
    """Whether what is in one directory can be renamed into the other: tried with a directory."""
    try:
        probe = Path(tempfile.mkdtemp(prefix=".backtrail-probe-", dir=source))
    except OSError:
        return False
    moved = target / probe.name
    try:
        probe.rename(moved)
    except OSError:
        probe.rmdir()
        return False
    moved.rmdir()
    return True


def move(source: Path, target: Path) -> bool:
    """Rename a directory, unless that was done before; False if there is nothing to move."""
    if os.path.lexists(target) or not os.path.lexists(source):
        return False
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        source.rename(target)
    except OSError as error:
        raise FailedError(
            f"{str(source)!r} cannot be moved to {str(target)!r}: {error.strerror}",
            hint="its files are where they were; make both places writable and try again",
        ) from error
    fsync_directory(target.parent)
    fsync_directory(source.parent)
    return True


def size_on_disk(root: Path) -> int:
    """What deleting a directory would free, hard links counted once and links not followed."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for directory, names, files in os.walk(root):
        for name in (*names, *files):
            found = os.lstat(os.path.join(directory, name))
            if (found.st_dev, found.st_ino) not in seen:
                seen.add((found.st_dev, found.st_ino))
                total += found.st_blocks * 512
    return total


def delete(root: Path) -> None:
    """Delete a directory that was set aside, closed directories in it, too; links stay links."""
    if not root.is_dir() or root.is_symlink():
        return
    with Beneath(root) as inside:
        waiting = [b""]
        while waiting:
            directory = waiting.pop()
            inside.set_mode(directory, stat.S_IRWXU, stat.S_ISDIR)
            with inside.scan(directory) as entries:
                names = [os.fsencode(e.name) for e in entries if e.is_dir(follow_symlinks=False)]
            waiting += [os.path.join(directory, name) for name in names]
    shutil.rmtree(root)
