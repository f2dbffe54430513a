"""A checkout whose files were being brought to another commit when everything stopped."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.domain.ids import TreeId
from backtrail.git.gitstate import UserIndex, read_index
from backtrail.git.ignore import scratch_directory
from backtrail.git.index_replacement import put_index
from backtrail.git.runner import nul_joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backtrail.domain.ids import SandboxId
    from backtrail.git.checkouts import Checkout
    from backtrail.git.runner import GitRunner
    from backtrail.git.store import PrivateStore
    from backtrail.git.users_git import UsersGit

_GITLINK = b"160000"
Entries = dict[bytes, bytes]
"""Mode and object id by path."""


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
        listed = git.call("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
        paths = listed.records()
        staged = _staged(git, paths)
        on_disk = _look(git, paths)
        before, after = (_of_tree(git, tree, paths) for tree in (old, new))
        foreign = [
            path
            for path in paths
            for entries in (staged, on_disk)
            if entries.get(path) not in (before.get(path), after.get(path))
        ]
        if foreign:
            raise _somebody_worked(checkout, foreign)
        known = UserIndex(index.read_bytes(), index.stat().st_mtime_ns)
        put_index(checkout.git_dir, known, visitor)
        return _reached(users, checkout, directory / "reached", old, paths, on_disk)


def _copied_index(checkout: Checkout, path: Path) -> Path:
    present = read_index(checkout.git_dir)
    if present is not None:
        path.write_bytes(present.content)
        os.utime(path, ns=(present.mtime_ns, present.mtime_ns))
    return path


def _staged(git: GitRunner, paths: Sequence[bytes]) -> Entries:
    wanted = set(paths)
    split = (record.split(b"\t", 1) for record in git.call("ls-files", "-s", "-z").records())
    return {path: head.rsplit(b" ", 1)[0] for head, path in split if path in wanted}


def _look(git: GitRunner, paths: Sequence[bytes]) -> Entries:
    """What the files are, by the user's filters; a submodule's pointer is in the index alone."""
    links = {path for path, entry in _staged(git, paths).items() if entry.startswith(_GITLINK)}
    files = [path for path in paths if path not in links]
    git.run(
        "update-index", "-z", "--add", "--remove", "--replace", "--stdin", stdin=nul_joined(files)
    ).checked(quiet=False)
    return _staged(git, paths)


def _of_tree(git: GitRunner, tree: str, paths: Sequence[bytes]) -> Entries:
    wanted = set(paths)
    records = git.call("ls-tree", "-r", "-z", "--full-tree", tree).records()
    split = (record.split(b"\t", 1) for record in records)
    pairs = ((head.split(b" "), path) for head, path in split)
    return {path: b"%s %s" % (mode, name) for (mode, _, name), path in pairs if path in wanted}


def _reached(
    users: UsersGit,
    checkout: Checkout,
    index: Path,
    old: str,
    paths: Sequence[bytes],
    on_disk: Mapping[bytes, bytes],
) -> TreeId:
    git = users.on(checkout.root, index, checkout.git_dir)
    git.call("read-tree", old)
    gone = [path for path in paths if path not in on_disk]
    git.call("update-index", "-z", "--force-remove", "--stdin", stdin=nul_joined(gone))
    records = [b"%s\t%s" % (entry, path) for path, entry in on_disk.items()]
    git.call("update-index", "-z", "--replace", "--index-info", stdin=nul_joined(records))
    return TreeId(git.call("write-tree").text)


def _somebody_worked(checkout: Checkout, foreign: Sequence[bytes]) -> RefusedError:
    paths = [os.fsdecode(path) for path in dict.fromkeys(foreign)]
    return RefusedError(
        f"files in {str(checkout.root)!r} were changed since: {', '.join(paths[:3])}",
        details={"paths": paths},
    )
