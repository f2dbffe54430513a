"""Making a branch and putting HEAD on one, without git, so that a kill leaves no lock of git's.

git takes a lock for a ref, and a git that is killed leaves it: from then on nobody can make that
branch, and nobody can tell whose the lock was. What we do to a ref of the user's that git would
do under a lock is done under one that can be told from theirs (`locked_files`).
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.git.osfiles.walk import walk_all
from backtrail.git.process.environment import IDENTITY
from backtrail.git.user.branches import refuse_name_taken
from backtrail.git.user.head import resolve_refs, user_git
from backtrail.git.user.index import head_in
from backtrail.git.user.locked_files import DIRECTORY, LockedFile, opened_directory

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from backtrail.domain.ids import CommitId, SandboxId
    from backtrail.git.store.store import PrivateStore


_HEADS = "refs/heads/"


def make_branch(
    store: PrivateStore, branch: str, commit: CommitId, sandbox: SandboxId, why: str
) -> bool:
    """Make a branch at a commit; False if it is there already. Refuses what is in its way."""
    common_dir, ref = store.common_dir, _HEADS + branch
    refuse_name_taken(common_dir, ref)

    def check() -> None:
        if resolve_refs(common_dir, [ref]):
            raise RefusedError(
                f"branch {branch!r} is there, and it is not at {commit[:12]}",
                hint=f"rename it, then try again: git branch -m {branch} NEW-NAME",
            )

    with opened_directory(common_dir) as home, _opened_parent(common_dir / ref) as heads:
        locked = _branch_in(heads, common_dir / ref, home, sandbox)
        locked.let_go()
        if resolve_refs(common_dir, [ref]).get(ref) == commit:
            return False
        locked.put(f"{commit}\n".encode(), check=check, deadline=store.deadline)
    log = common_dir / "logs" / ref
    with suppress(OSError):  # git goes on without a log as well
        log.parent.mkdir(parents=True, exist_ok=True)
        with opened_directory(log.parent) as directory:
            _note(directory, log.name, None, commit, why)
    return True


def let_go_of_branch(common_dir: Path, branch: str, sandbox: SandboxId) -> None:
    """Remove a lock of a branch that we took and, killed, did not let go."""
    if not os.path.lexists(common_dir / _ours(sandbox)):
        return
    ref = common_dir / (_HEADS + branch)
    with opened_directory(common_dir) as home, _opened_parent(ref) as heads:
        _branch_in(heads, ref, home, sandbox).let_go()


def _branch_in(heads: int, ref: Path, home: int, sandbox: SandboxId) -> LockedFile:
    return LockedFile(ref, heads, _ours(sandbox), home, "is about to move the branch")


def _ours(sandbox: SandboxId) -> str:
    return f"backtrail-{sandbox}.ref"


@contextmanager
def _opened_parent(ref: Path) -> Generator[int]:
    """The directory that a ref is in; an empty one in the place of the ref is no branch."""
    for directory, _ in reversed(list(walk_all(ref))):
        with suppress(OSError):
            os.rmdir(os.path.join(os.fsencode(ref), directory))
    ref.parent.mkdir(parents=True, exist_ok=True)
    with opened_directory(ref.parent) as directory:
        yield directory


def put_head_on(
    store: PrivateStore, directory: int, git_dir: Path, ref: str, commit: CommitId | None, why: str
) -> None:
    """Put HEAD of an opened git directory on a branch, which is at a commit or has none."""
    git = user_git(git_dir)
    if git.run("symbolic-ref", "--quiet", "HEAD").text == ref:
        return
    old = git.run("rev-parse", "--verify", "--quiet", "HEAD").text
    head = head_in(directory, git_dir)
    head.put(f"ref: {ref}\n".encode(errors="surrogateescape"), deadline=store.deadline)
    if commit is None:
        return
    with suppress(OSError):
        logs = os.open("logs", DIRECTORY, dir_fd=directory)
        try:
            _note(logs, "HEAD", old or None, commit, why)
        finally:
            os.close(logs)


def log_line(old: str | None, new: str, why: str) -> bytes:
    """How git notes that a ref was moved."""
    who = f"{IDENTITY['GIT_COMMITTER_NAME']} <{IDENTITY['GIT_COMMITTER_EMAIL']}>"
    return f"{old or '0' * len(new)} {new} {who} {int(time.time())} +0000\t{why}\n".encode()


def _note(directory: int, name: str, old: str | None, new: str, why: str) -> None:
    """Add to a log; one that is a link leads elsewhere, and is not written through."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o644, dir_fd=directory)
    try:
        os.write(descriptor, log_line(old, new, why))
    finally:
        os.close(descriptor)
