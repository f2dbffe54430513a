"""A state as git itself would commit it: the user's filters, attributes and submodules hold.

A checkpoint's tree has the bytes that were on disk. In a branch they must be what `git add` makes
of them, or every file that a filter touches would look changed. Git works on a copy of the
sandbox's index, under the repository's configuration, and is never asked inside of a submodule:
there it would go by a configuration that anybody may have written.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from backtrail.domain.errors import RefusedError
from backtrail.domain.ids import CommitId
from backtrail.domain.plan import Sandbox
from backtrail.git.checkpoint.state import Captured
from backtrail.git.ignore.rules import UserSettings, configuration_reader
from backtrail.git.osfiles.paths import exists_inside, lstat_inside
from backtrail.git.process.runner import GitRunner, Output, nul_joined
from backtrail.git.process.users_git import UsersGit
from backtrail.git.restore.export import materialize
from backtrail.git.store.index import safe_date
from backtrail.git.store.store import PrivateStore, scratch_directory
from backtrail.git.user.discovery import nested_head
from backtrail.git.user.head import read_index
from backtrail.git.user.transfer import send_back

_GITLINK = b"160000"
_SKIPPED = b"S"
_NOT_SPARSE = ("-c", "core.sparseCheckout=false")
"""Files beyond a sparse checkout's cone are kept by their flags, whatever the settings say."""
_UNREADABLE = b"could not open directory"


class _Entry(NamedTuple):
    tag: bytes
    """A small letter: assumed to be unchanged; S: not to be looked at."""
    mode: bytes
    object_id: str
    path: bytes


def stage_sandbox(
    users: UsersGit, user: UserSettings, sandbox: Sandbox, head: CommitId | None, index: Path
) -> tuple[str, ...]:
    """Fill an index with all that is not ignored; gives the files that flags keep out of it."""
    git = users.on(sandbox.path, index)
    _begin(git, sandbox, head, index)
    entries = _entries(git)
    hidden = _settle_flags(git, sandbox, entries, sparse=_is_sparse(sandbox, user))
    links = [entry for entry in entries if entry.mode == _GITLINK]
    heads = _heads_in(sandbox.path, links)
    added = _add_all(git, links, heads)
    if _UNREADABLE in added.stderr:
        raise RefusedError(
            "a directory of the sandbox cannot be read, so nobody knows what is in it",
            hint="make it readable, or ignore it",
            details={"stderr": added.complaint()},
        )
    _mark(git, "--no-skip-worktree", list(heads))
    return hidden


def commit_checkpoint(
    store: PrivateStore, users: UsersGit, captured: Captured, message: str
) -> CommitId:
    """A commit by the user with a checkpoint's files, on its HEAD: without hooks or signature."""
    state = captured.state.git_state
    parents = [state.head_commit] if state.head_commit else []
    send_back(store, store.common_dir, parents, captured.state.staged)
    with scratch_directory(store) as directory:
        root, index = directory / "tree", directory / "index"
        root.mkdir()
        materialize(store, captured, root, ignored=False)
        if state.index is not None:
            index.write_bytes(state.index.content)
        git = users.on(root, index)
        links = [entry for entry in _entries(git) if entry.mode == _GITLINK]
        nested = captured.state.extras.repositories
        heads = {link.path: nested.get(os.fsdecode(link.path), "") for link in links}
        _add_all(git, links, heads, "-c", "core.safecrlf=false")
        tree = git.call("write-tree").text
    words = [word for parent in parents for word in ("-p", parent)]
    made = users.plumbing().run("commit-tree", *words, "-m", message, tree)
    return CommitId(made.checked(quiet=False).text)


def _begin(git: GitRunner, sandbox: Sandbox, head: CommitId | None, index: Path) -> None:
    """The sandbox's own index, dated so that every file which may have changed is looked at."""
    present = read_index(sandbox.git_dir)
    if present is not None:
        index.write_bytes(present.content)
        date = safe_date(min(present.mtime_ns, time.time_ns()))
        os.utime(index, ns=(date, date))
    elif head is not None:
        git.call(*_NOT_SPARSE, "read-tree", head)


def _entries(git: GitRunner) -> list[_Entry]:
    records = git.call("ls-files", "-v", "-s", "-z").records()
    split = (record.split(b"\t", 1) for record in records)
    words = ((head.split(b" "), path) for head, path in split)
    return [_Entry(tag, mode, name.decode(), path) for (tag, mode, name, _), path in words]


def _is_sparse(sandbox: Sandbox, user: UserSettings) -> bool:
    reader = configuration_reader(sandbox.git_dir, user)
    return reader.run("config", "--type=bool", "--get", "core.sparseCheckout").text == "true"


def _settle_flags(
    git: GitRunner, sandbox: Sandbox, entries: Sequence[_Entry], *, sparse: bool
) -> tuple[str, ...]:
    """Let git see files that are there although they are out of the cone, as it would itself."""
    flagged = [e for e in entries if (e.tag == _SKIPPED or e.tag.islower()) and e.mode != _GITLINK]
    present = [e for e in flagged if exists_inside(sandbox.path, e.path)]
    revealed = [e.path for e in present if sparse and e.tag == _SKIPPED]
    _mark(git, "--no-skip-worktree", revealed)
    return tuple(os.fsdecode(e.path) for e in present if e.path not in set(revealed))


def _heads_in(root: Path, links: Sequence[_Entry]) -> dict[bytes, str]:
    """Where the HEAD of each submodule is that has a directory, as far as it has one."""
    found = ((link.path, lstat_inside(root, link.path)) for link in links)
    there = [path for path, info in found if info is not None and stat.S_ISDIR(info.st_mode)]
    return {path: nested_head(root, path) or "" for path in there}


def _add_all(
    git: GitRunner, links: Sequence[_Entry], heads: Mapping[bytes, str], *settings: str
) -> Output:
    """Stage everything, and each submodule at its HEAD or as removed; they stay `skip-worktree`."""
    for link in links:
        if link.path not in heads:
            git.call("update-index", "-z", "--force-remove", "--stdin", stdin=link.path + b"\0")
            continue
        commit = heads[link.path].split(" ")[0]
        if len(commit) == len(link.object_id) and commit != link.object_id:
            record = b"%s %s\t%s\0" % (_GITLINK, commit.encode(), link.path)
            git.call("update-index", "-z", "--index-info", stdin=record)
    _mark(git, "--skip-worktree", list(heads))
    return git.run(*_NOT_SPARSE, *settings, "add", "--all").checked(quiet=False)


def _mark(git: GitRunner, flag: str, paths: Sequence[bytes]) -> None:
    if paths:
        git.call("update-index", flag, "-z", "--stdin", stdin=nul_joined(paths))
