"""Moving a branch by compare-and-swap, with something done while nobody else can move it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from backtrail.domain.errors import BusyError, GitFailedError
from backtrail.git.gitstate import user_git

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from backtrail.domain.ids import CommitId
    from backtrail.git.store import PrivateStore


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
        running.tell(b"abort\0")
        running.finish()
        raise
    running.tell(b"commit\0")
    running.finish().checked(quiet=False)


def _moved(ref: str, complaint: str) -> BusyError | GitFailedError:
    branch = ref.removeprefix("refs/heads/")
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
