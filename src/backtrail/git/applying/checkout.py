"""Bringing the files of a branch's checkout along when the branch moves, also after a crash."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from backtrail.domain.errors import RefusedError
from backtrail.domain.ids import SandboxId, TreeId
from backtrail.git.osfiles.beneath import parents_of
from backtrail.git.osfiles.locks import wait_for_git
from backtrail.git.osfiles.paths import first_obstacle, lstat_inside
from backtrail.git.osfiles.walk import walk
from backtrail.git.process.runner import GitRunner, nul_joined
from backtrail.git.process.users_git import UsersGit
from backtrail.git.store.store import PrivateStore, scratch_directory
from backtrail.git.user.checkouts import Checkout
from backtrail.git.user.head import UserIndex, read_index
from backtrail.git.user.index import put_index
from backtrail.git.user.locked_files import opened_directory
from backtrail.git.user.merge_state import under_way

_GITLINK = b"160000"


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
        index = _copied_index(checkout, directory / "index")
        git = users.on(checkout.root, index, checkout.git_dir)
        concerned = _changes(git, old, new).keys()
        dirty = sorted({*_in_the_way(git, checkout.root, concerned), *_edited(git, old, concerned)})
    if dirty:
        raise RefusedError(
            f"{str(checkout.root)!r} has work of its own in what would be changed there; "
            "nothing was changed",
            hint="commit it, stash it or move it away, then apply again",
            details={"paths": [os.fsdecode(path) for path in dirty]},
        )


def _edited(git: GitRunner, old: str, concerned: Collection[bytes]) -> Iterator[bytes]:
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


def _touches(path: bytes, concerned: Collection[bytes]) -> bool:
    """Whether a path is one of those concerned, or in the place of a directory above one."""
    if any(place in concerned for place in (*parents_of(path), path)):
        return True
    return any(other.startswith(path + b"/") for other in concerned)


def _in_the_way(git: GitRunner, root: Path, concerned: Collection[bytes]) -> Iterator[bytes]:
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


def catch_up(
    store: PrivateStore,
    users: UsersGit,
    checkout: Checkout,
    old: str,
    new: str,
    visitor: SandboxId,
) -> TreeId:
    """Let the index know how far the files have come; gives the tree that they are at.

    Each path concerned has to be as it was or as it is to become, on disk and in the index; what
    is neither is somebody's work, and nothing is touched.
    """
    with scratch_directory(store) as directory:
        index = _copied_index(checkout, directory / "index")
        git = users.on(checkout.root, index, checkout.git_dir)
        changes = _changes(git, old, new)
        staged = _staged(git, changes)
        # What the files are, by the user's filters; a submodule's pointer is in the index alone.
        files = [path for path in changes if not staged.get(path, b"").startswith(_GITLINK)]
        words = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
        git.run(*words, stdin=nul_joined(files)).checked(quiet=False)
        on_disk = _staged(git, changes)
        foreign = [
            path
            for path, sides in changes.items()
            if staged.get(path) not in sides or on_disk.get(path) not in sides
        ]
        if foreign:
            raise _somebody_worked(checkout, foreign)
        known = UserIndex(index.read_bytes(), index.stat().st_mtime_ns)
        with opened_directory(checkout.git_dir) as opened:
            put_index(opened, checkout.git_dir, known, visitor=visitor)
        git = users.on(checkout.root, directory / "reached", checkout.git_dir)
        return _reached(git, old, changes, on_disk)


def _copied_index(checkout: Checkout, path: Path) -> Path:
    present = read_index(checkout.git_dir)
    if present is not None:
        path.write_bytes(present.content)
        os.utime(path, ns=(present.mtime_ns, present.mtime_ns))
    return path


def _changes(git: GitRunner, old: str, new: str) -> dict[bytes, tuple[bytes | None, bytes | None]]:
    """Of each path that differs between two trees its mode and object, before and after."""
    records = iter(git.call("diff-tree", "-r", "-z", "--no-renames", old, new).records())
    found = dict[bytes, tuple[bytes | None, bytes | None]]()
    for record in records:
        mode, new_mode, name, new_name, _ = record[1:].split(b" ")
        sides = ((mode, name), (new_mode, new_name))
        before, after = (b"%s %s" % side if side[0].strip(b"0") else None for side in sides)
        found[next(records)] = before, after
    return found


def _staged(git: GitRunner, paths: Collection[bytes]) -> dict[bytes, bytes]:
    """Mode and object of those of the paths that an index has."""
    split = (record.split(b"\t", 1) for record in git.call("ls-files", "-s", "-z").records())
    return {path: head.rsplit(b" ", 1)[0] for head, path in split if path in paths}


def _reached(
    git: GitRunner, old: str, paths: Iterable[bytes], on_disk: Mapping[bytes, bytes]
) -> TreeId:
    git.call("read-tree", old)
    gone = [path for path in paths if path not in on_disk]
    git.call("update-index", "-z", "--force-remove", "--stdin", stdin=nul_joined(gone))
    records = [b"%s\t%s" % (entry, path) for path, entry in on_disk.items()]
    git.call("update-index", "-z", "--replace", "--index-info", stdin=nul_joined(records))
    return TreeId(git.call("write-tree").text)


def _somebody_worked(checkout: Checkout, foreign: Sequence[bytes]) -> RefusedError:
    paths = list(map(os.fsdecode, foreign))
    return RefusedError(
        f"files in {str(checkout.root)!r} were changed since: {', '.join(paths[:3])}",
        details={"paths": paths},
    )
