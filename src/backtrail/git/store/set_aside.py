"""Setting directories aside as they are: a rename on their own file system, which loses nothing.

A checkpoint does not hold ignored or oversize files, special files, or the history of a nested
repository. So a sandbox is not deleted when it is removed: it is moved out of the way, whole, and
so is the directory below `.git/worktrees` that makes it a worktree.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backtrail.domain.errors import FailedError, SandboxInvalidError
from backtrail.domain.plan import Sandbox
from backtrail.git.osfiles.durable import fsync_directory
from backtrail.git.osfiles.walk import delete_tree, walk_all

if TYPE_CHECKING:
    from backtrail.git.store.store import StoreLayout


@dataclass(frozen=True, slots=True)
class SetAside:
    """Where the two halves of a removed sandbox lie."""

    tree: Path
    git_dir: Path
    git_dir_was: Path
    """Where the git directory was, and goes again."""
    tree_inode: int | None = None
    git_dir_inode: int | None = None
    """What was looked at and is to be moved, and nothing else. A device may have another number
    when an interrupted removal is finished, so that it tells nothing."""

    def as_document(self) -> dict[str, Any]:
        return {key: str(v) if isinstance(v, Path) else v for key, v in asdict(self).items()}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> SetAside:
        tree, git_dir, was = (Path(document[key]) for key in ("tree", "git_dir", "git_dir_was"))
        return cls(tree, git_dir, was, document.get("tree_inode"), document.get("git_dir_inode"))


def place_for(layout: StoreLayout, sandbox: Sandbox, common_dir: Path) -> SetAside:
    """Where a sandbox can be moved by renaming alone: below our home, else beside itself."""
    home, name = layout.trash(sandbox.sandbox_id), f".backtrail-{sandbox.sandbox_id}"
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    near = _can_rename(sandbox.path.parent, home)
    near_git = _can_rename(common_dir, home)
    return SetAside(
        tree=home / "tree" if near else sandbox.path.with_name(name),
        git_dir=home / "git" if near_git else common_dir / name.lstrip("."),
        git_dir_was=sandbox.git_dir,
        tree_inode=_inode_at(sandbox.path),
        git_dir_inode=sandbox.inode[1] if sandbox.inode else _inode_at(sandbox.git_dir),
    )


def _inode_at(path: Path) -> int | None:
    """The inode of what has a name, a link itself; None if nothing has it."""
    try:
        return path.lstat().st_ino
    except (FileNotFoundError, NotADirectoryError):
        return None


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


def move(source: Path, target: Path, wanted: int | None = None) -> bool:
    """Rename a directory, unless that was done before; False if there is nothing to move.

    Given its inode, nothing else is moved: what has the name by then goes back to it.
    """
    if os.path.lexists(target) or not os.path.lexists(source):
        return False
    _refuse_another(source, _inode_at(source), wanted)
    _rename(source, target)
    moved = _inode_at(target)
    if wanted is not None and moved != wanted:
        _rename(target, source)
    _refuse_another(source, moved, wanted)
    fsync_directory(target.parent)
    fsync_directory(source.parent)
    return True


def _refuse_another(place: Path, found: int | None, wanted: int | None) -> None:
    if wanted is not None and found != wanted:
        raise SandboxInvalidError(
            f"{str(place)!r} was exchanged for something else meanwhile: it stays where it is",
            hint="plan status says where the plan stands",
            details={"path": str(place)},
        )


def _rename(source: Path, target: Path) -> None:
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        source.rename(target)
    except OSError as error:
        raise FailedError(
            f"{str(source)!r} cannot be moved to {str(target)!r}: {error.strerror}",
            hint="its files are where they were; make both places writable and try again",
        ) from error


def size_on_disk(root: Path) -> int:
    """What deleting a directory would free, hard links counted once and links not followed."""
    sizes: dict[tuple[int, int], int] = {}
    for _, entries in walk_all(root):
        for entry in entries:
            # Gone, or its path is too long.
            with suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                sizes[found.st_dev, found.st_ino] = found.st_blocks * 512
    return sum(sizes.values())


def delete(root: Path) -> None:
    """Delete a directory that was set aside, closed directories in it, too; links stay links."""
    if not root.is_dir() or root.is_symlink():
        return
    delete_tree(root)
