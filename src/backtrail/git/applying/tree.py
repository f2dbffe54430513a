"""A state as git itself would commit it: the user's filters, attributes and submodules hold.

A checkpoint's tree has the bytes that are on disk; what lands in a branch must be what `git add`
makes of them. Git works on a copy of the sandbox's index, under the repository's configuration.

A checkpoint's tree has the bytes that were on disk. In a branch they must be what `git add` makes
of them, or every file that a filter touches would look changed.
"""

from __future__ import annotations

import os
import stat
import time
from typing import TYPE_CHECKING, NamedTuple

from backtrail.domain.errors import RefusedError, UsageError
from backtrail.domain.ids import CommitId, TreeId
from backtrail.git.ignore.rules import UserSettings, configuration_reader
from backtrail.git.osfiles.paths import exists_inside, lstat_inside
from backtrail.git.process.runner import nul_joined
from backtrail.git.restore.export import materialize
from backtrail.git.store.index import safe_date
from backtrail.git.store.store import scratch_directory
from backtrail.git.user.head import read_index, resolve_refs, user_git
from backtrail.git.user.nested_repositories import nested_head
from backtrail.git.user.transfer import send_back

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backtrail.domain.plan import Sandbox
    from backtrail.git.checkpoint.state import Captured
    from backtrail.git.process.runner import GitRunner
    from backtrail.git.process.users_git import UsersGit
    from backtrail.git.store.store import PrivateStore
    from backtrail.git.user.repository import UserRepository


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


def stage_everything(
    users: UsersGit, user: UserSettings, sandbox: Sandbox, head: CommitId | None, index: Path
) -> tuple[str, ...]:
    """Fill an index with all that is not ignored; gives the files that flags keep out of it."""
    git = users.on(sandbox.path, index)
    _begin(git, sandbox, head, index)
    entries = _entries(git)
    hidden = _settle_flags(git, sandbox, entries, sparse=_is_sparse(sandbox, user))
    links = _settle_gitlinks(git, sandbox.path, [e for e in entries if e.mode == _GITLINK])
    added = git.run(*_NOT_SPARSE, "add", "--all").checked(quiet=False)
    if _UNREADABLE in added.stderr:
        raise RefusedError(
            "a directory of the sandbox cannot be read, so nobody knows what is in it",
            hint="make it readable, or ignore it",
            details={"stderr": added.complaint()},
        )
    _mark(git, "--no-skip-worktree", links)
    return hidden


def tree_of_index(users: UsersGit, sandbox: Sandbox, index: Path) -> TreeId:
    return TreeId(users.on(sandbox.path, index).call("write-tree").text)


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


def _settle_gitlinks(git: GitRunner, root: Path, links: Sequence[_Entry]) -> list[bytes]:
    """Let each name the commit that its repository is at, without asking git inside of it.

    Git would run `status` there, under a configuration that anybody may have written.
    """
    kept: list[bytes] = []
    for link in links:
        found = lstat_inside(root, link.path)
        if found is None or not stat.S_ISDIR(found.st_mode):
            git.call("update-index", "-z", "--force-remove", "--stdin", stdin=link.path + b"\0")
            continue
        kept.append(link.path)
        commit = (nested_head(root, link.path) or "").split(" ")[0]
        if len(commit) == len(link.object_id) and commit != link.object_id:
            record = b"%s %s\t%s\0" % (_GITLINK, commit.encode(), link.path)
            git.call("update-index", "-z", "--index-info", stdin=record)
    _mark(git, "--skip-worktree", kept)
    return kept


def _mark(git: GitRunner, flag: str, paths: Sequence[bytes]) -> None:
    if paths:
        git.call("update-index", flag, "-z", "--stdin", stdin=nul_joined(paths))


def check_new_branch(store: PrivateStore, repository: UserRepository, branch: str) -> str:
    """The full name of a branch that can be made."""
    ref = f"refs/heads/{branch}"
    valid = user_git(store.common_dir).run("check-ref-format", ref).code == 0
    if not valid or branch.startswith("-") or branch == "HEAD":
        raise UsageError(
            f"{branch!r} cannot be the name of a branch", hint="git help check-ref-format"
        )
    if ref in resolve_refs(store.common_dir, [ref]):
        raise RefusedError(
            f"branch {branch!r} already exists: it is not moved", hint="choose another name"
        )
    repository.refuse_impossible_branch(branch)
    git = user_git(store.common_dir)
    below = git.call("for-each-ref", "--count=1", "--format=%(refname:short)", f"{ref}/").text
    if below:
        raise RefusedError(
            f"branch {branch!r} cannot be made while a branch {below!r} exists",
            hint="choose another name",
        )
    return ref


def commit_of(
    store: PrivateStore, repository: UserRepository, captured: Captured, message: str
) -> CommitId:
    """A commit in the user's repository with the checkpoint's files, on top of its HEAD."""
    state = captured.state.git_state
    parents = [state.head_commit] if state.head_commit else []
    send_back(store, store.common_dir, parents, captured.state.staged)
    with scratch_directory(store) as directory:
        root, index = directory / "tree", directory / "index"
        root.mkdir()
        materialize(store, captured, root, ignored=False)
        if state.index is not None:
            index.write_bytes(state.index.content)
        nested = captured.state.extras.repositories
        heads = {path: head.split(" ")[0] for path, head in nested.items()}
        tree = repository.stage(root, index, heads)
    return repository.commit_tree(tree, parents, message)


def make_branch(store: PrivateStore, ref: str, commit: CommitId, why: str) -> None:
    """Create the branch; nothing is moved if somebody made it meanwhile."""
    git = user_git(store.common_dir, store)
    reason = ("-m", f"backtrail: {why}")
    git.call("update-ref", "--create-reflog", *reason, ref, commit, "0" * len(commit))
