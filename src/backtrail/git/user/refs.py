"""Making a branch and putting HEAD on one, without git, so that a kill leaves no lock of git's.

git takes a lock for a ref, and a git that is killed leaves it: from then on nobody can make that
branch, and nobody can tell whose the lock was. What we do to a ref of the user's that git would
do under a lock is done under one that can be told from theirs (`locked_files`).

The log of a sandbox's HEAD lies where whoever works there can write, and git writes to wherever a
link in its place leads: git only ever works in a git directory of ours that stands in for it.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EINVAL
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.git.osfiles.walk import walk_all
from backtrail.git.process.environment import IDENTITY
from backtrail.git.store.store import scratch_directory
from backtrail.git.user.branches import refuse_name_taken
from backtrail.git.user.head import head_text, log_leads_nowhere, resolve_refs, user_git
from backtrail.git.user.index import head_in
from backtrail.git.user.locked_files import DIRECTORY, LockedFile, opened_directory

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from backtrail.domain.ids import CommitId, SandboxId
    from backtrail.git.process.runner import GitRunner
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
        if log_leads_nowhere(common_dir, f"logs/{ref}"):
            log.parent.mkdir(parents=True, exist_ok=True)
            with opened_directory(log.parent) as directory:
                _append(directory, log.name, log_line(None, commit, why))
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
) -> tuple[str, ...]:
    """Put HEAD of an opened git directory on a branch, which is at a commit or has none.

    Gives what is worth saying.
    """
    git = user_git(git_dir)
    if git.run("symbolic-ref", "--quiet", "HEAD").text == ref:
        return ()
    old = git.run("rev-parse", "--verify", "--quiet", "HEAD").text
    head = head_in(directory, git_dir)
    head.put(f"ref: {ref}\n".encode(errors="surrogateescape"), deadline=store.deadline)
    if commit is None or not _is_there(directory, "logs"):
        return ()
    return _note(directory, git_dir, log_line(old or None, commit, why))


@dataclass(frozen=True, slots=True)
class StandIn:
    """A git directory of ours with the same HEAD as a sandbox's: git moves and notes it there."""

    git: GitRunner
    _log: Path
    _directory: int
    _git_dir: Path
    _deadline: float

    def put_head_at(self, commit: CommitId) -> tuple[str, ...]:
        """Put the sandbox's HEAD on a commit and on no branch, after it was noted."""
        said = self.hand_over()
        if head_text(self._git_dir) != commit:
            head = head_in(self._directory, self._git_dir)
            head.put(f"{commit}\n".encode(), deadline=self._deadline)
        return said

    def hand_over(self) -> tuple[str, ...]:
        """Add to the sandbox's log what git has noted so far; gives what is worth saying."""
        try:
            noted = self._log.read_bytes()
        except FileNotFoundError:
            return ()
        os.truncate(self._log, 0)
        return _note(self._directory, self._git_dir, noted) if noted else ()


@contextmanager
def stand_in(store: PrivateStore, directory: int, git_dir: Path) -> Generator[StandIn]:
    """What git may write HEAD and its log in, for a git directory that was opened.

    It has a log if the sandbox has one, so that git decides as ever whether to keep one.
    """
    with scratch_directory(store) as place:
        head = head_text(git_dir).encode("utf-8", "surrogateescape")
        (place / "HEAD").write_bytes(head + b"\n")
        (place / "commondir").write_bytes(os.fsencode(store.common_dir) + b"\n")
        (place / "logs").mkdir()
        log = place / "logs" / "HEAD"
        if _is_there(directory, "logs/HEAD"):
            log.touch()
        yield StandIn(user_git(place, store), log, directory, git_dir, store.deadline)


def _is_there(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError:
        # Something on the way can be no directory: that is told when there is something to note.
        return True
    return True


def log_line(old: str | None, new: str, why: str) -> bytes:
    """How git notes that a ref was moved."""
    who = f"{IDENTITY['GIT_COMMITTER_NAME']} <{IDENTITY['GIT_COMMITTER_EMAIL']}>"
    return f"{old or '0' * len(new)} {new} {who} {int(time.time())} +0000\t{why}\n".encode()


def _note(directory: int, git_dir: Path, lines: bytes) -> tuple[str, ...]:
    """Add to the log of HEAD in an opened git directory; gives why that cannot be, in words."""
    try:
        with suppress(FileExistsError):
            os.mkdir("logs", dir_fd=directory)
        logs = os.open("logs", DIRECTORY, dir_fd=directory)
        try:
            _append(logs, "HEAD", lines)
        finally:
            os.close(logs)
    except OSError as error:
        place = str(git_dir / "logs" / "HEAD")
        return (f"the move of HEAD is not noted in {place!r}: {error.strerror}",)
    return ()


def _append(directory: int, name: str, lines: bytes) -> None:
    """Add to a log, which has to be a file of its own: a link leads elsewhere, a FIFO waits."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o644, dir_fd=directory)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise OSError(EINVAL, "it is no plain file of its own")
        os.write(descriptor, lines)
    finally:
        os.close(descriptor)
