"""Branches of the user's repository, and HEAD on one: names looked for, made, moved and deleted.

git takes a lock for a ref, and a git that is killed leaves it: from then on nobody can make that
branch, and nobody can tell whose the lock was. So a branch is made, and HEAD put on one, under a
lock that can be told from theirs (`locked_files`).

The log of a sandbox's HEAD lies where whoever works there can write, and git writes to wherever a
link in its place leads: git only ever works in a git directory of ours that stands in for it.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EINVAL
from pathlib import Path

from backtrail.domain.errors import BusyError, GitFailedError, RefusedError, UsageError
from backtrail.domain.ids import CommitId, SandboxId
from backtrail.git.osfiles.walk import walk_all
from backtrail.git.process.environment import IDENTITY
from backtrail.git.process.runner import GitRunner
from backtrail.git.store.store import PrivateStore, scratch_directory
from backtrail.git.user.checkouts import branch_checked_out_elsewhere
from backtrail.git.user.head import HEADS, head_text, log_leads_nowhere, resolve_refs, user_git
from backtrail.git.user.index import head_in
from backtrail.git.user.locked_files import DIRECTORY, LockedFile, opened_directory


def _in_the_way(git_dir: Path, branch: str) -> dict[str, CommitId]:
    """The branch itself, and those above or below its name, beside which git cannot keep it."""
    parts = branch.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts))]
    words = ("for-each-ref", "--format=%(objectname) %(refname)")
    refs = (HEADS + name for name in (*above, branch))
    listed = (
        line.split(" ", 1) for line in user_git(git_dir).call(*words, *refs).text.splitlines()
    )
    found = {name.removeprefix(HEADS): CommitId(commit) for commit, name in listed}
    return {n: c for n, c in found.items() if n in (*above, branch) or n.startswith(f"{branch}/")}


def refuse_impossible_branch(git_dir: Path, branch: str, *, exists: str, hint: str) -> None:
    """Refuse to make a branch that is there, for which the caller has words, or cannot be."""
    other = next(iter(_in_the_way(git_dir, branch)), None)
    if other == branch:
        raise RefusedError(f"branch {branch!r} {exists}", hint=hint)
    if other is not None:
        rename = (
            f"rename it with git branch -m {other} NEW-NAME, or set another "
            "branch_prefix under [sandbox] in plan.toml"
        )
        raise RefusedError(
            f"branch {branch!r} cannot be made while a branch {other!r} exists",
            hint="choose another name" if other.startswith(branch) else rename,
        )


def refuse_invalid_branch(git_dir: Path, branch: str) -> None:
    valid = user_git(git_dir).run("check-ref-format", HEADS + branch).code == 0
    if not valid or branch.startswith("-") or branch == "HEAD":
        raise UsageError(
            f"{branch!r} cannot be the name of a branch", hint="git help check-ref-format"
        )


def where_it_can_return(git_dir: Path, branch: str) -> CommitId | None:
    """Where a branch is, if it is there; refused if it cannot be beside another one."""
    taken = _in_the_way(git_dir, branch)
    commit = taken.pop(branch, None)
    for other in taken:
        raise RefusedError(
            f"branch {branch!r} is gone and cannot come back beside branch {other!r}",
            hint=f"rename the other one first: git branch -m {other} NEW-NAME",
        )
    return commit


def make_branch(
    store: PrivateStore, branch: str, commit: CommitId, sandbox: SandboxId, why: str
) -> bool:
    """Make a branch at a commit; False if it is there already. Refuses what is in its way."""
    common_dir, ref = store.common_dir, HEADS + branch
    is_there = where_it_can_return(common_dir, branch) == commit

    def check() -> None:
        if resolve_refs(common_dir, [ref]):
            raise RefusedError(
                f"branch {branch!r} is there, and it is not at {commit[:12]}",
                hint=f"rename it, then try again: git branch -m {branch} NEW-NAME",
            )

    with _branch_lock(common_dir, ref, sandbox) as locked:
        locked.release()
        if is_there:
            return False
        locked.put(f"{commit}\n".encode(), check=check, deadline=store.deadline)
    log = common_dir / "logs" / ref
    with suppress(OSError):  # git goes on without a log as well
        if log_leads_nowhere(common_dir, f"logs/{ref}"):
            log.parent.mkdir(parents=True, exist_ok=True)
            with opened_directory(log.parent) as directory:
                _append(directory, log.name, log_line(None, commit, why))
    return True


def release_branch_lock(common_dir: Path, branch: str, sandbox: SandboxId) -> None:
    """Remove a lock of a branch that we took and, killed, did not release."""
    if os.path.lexists(common_dir / _ours(sandbox)):
        with _branch_lock(common_dir, HEADS + branch, sandbox) as locked:
            locked.release()


@contextmanager
def _branch_lock(common_dir: Path, ref: str, sandbox: SandboxId) -> Generator[LockedFile]:
    """A branch to be written; an empty directory in its place is no branch."""
    path = common_dir / ref
    for directory, _ in reversed(list(walk_all(path))):
        with suppress(OSError):
            os.rmdir(os.path.join(os.fsencode(path), directory))
    path.parent.mkdir(parents=True, exist_ok=True)
    with opened_directory(common_dir) as home, opened_directory(path.parent) as heads:
        yield LockedFile(path, heads, _ours(sandbox), home, "is about to move the branch")


def _ours(sandbox: SandboxId) -> str:
    return f"backtrail-{sandbox}.ref"


def create_branch(store: PrivateStore, branch: str, commit: CommitId, why: str) -> None:
    """Make a branch of the user's, for good; nothing is moved if somebody made it meanwhile."""
    reason = ("--create-reflog", "-m", f"backtrail: {why}")
    git = user_git(store.common_dir, store)
    git.call("update-ref", *reason, HEADS + branch, commit, "0" * len(commit))


def delete_branch(store: PrivateStore, git_dir: Path, branch: str, commit: CommitId) -> bool:
    """Delete a branch that still points at a commit; False if it stays.

    It stays where somebody moved it, checked it out, or made it another name of a branch.
    """
    ref, common_dir = HEADS + branch, store.common_dir
    now = resolve_refs(common_dir, [ref]).get(ref)
    if now is None:
        return True
    git = user_git(common_dir, store)
    alias = git.run("symbolic-ref", "--quiet", ref).code == 0
    if now != commit or alias or branch_checked_out_elsewhere(common_dir, git_dir, branch):
        return False
    git.call("update-ref", "--no-deref", "-d", ref, commit)
    return True


@contextmanager
def moving(
    store: PrivateStore,
    git_dir: Path,
    ref: str,
    new: CommitId,
    old: CommitId | None,
    *,
    why: str,
) -> Generator[None]:
    """The branch is locked and known to be at `old` inside; it is moved at the end.

    If we die, git finds its input closed and lets go of the branch; so it does after an error.
    """
    git = user_git(git_dir, store)
    running = git.start("update-ref", "--create-reflog", "-m", why, "-z", "--stdin")
    expected = old or "0" * len(new)
    change = f"start\0option no-deref\0update {ref}\0{new}\0{expected}\0prepare\0"
    try:
        running.ask(change.encode())
        ready = running.ask(b"") == b"prepare: ok"
    except BaseException:
        running.finish()
        raise
    if not ready:
        ended = running.finish()
        ended.refuse_if_locked()
        raise _moved(ref, ended.complaint())
    try:
        yield
    except BaseException:
        running.write(b"abort\0")
        running.finish()
        raise
    running.write(b"commit\0")
    running.finish().checked(quiet=False)


def _moved(ref: str, complaint: str) -> BusyError | GitFailedError:
    branch = ref.removeprefix(HEADS)
    if "but expected" in complaint or "already exists" in complaint:
        return BusyError(
            f"branch {branch!r} was moved by somebody else at this very moment; "
            "nothing was changed",
            hint="apply again, on top of what is there now",
        )
    return GitFailedError(
        f"branch {branch!r} cannot be moved: {complaint.splitlines()[0]}",
        details={"stderr": complaint},
    )


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
