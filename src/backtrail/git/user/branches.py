"""Branches of the user's repository: checked, deleted, and moved by compare-and-swap."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from backtrail.domain.errors import BusyError, GitFailedError, RefusedError
from backtrail.git.user.head import branch_checked_out_elsewhere, resolve_refs, user_git

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from backtrail.domain.ids import CommitId
    from backtrail.git.store.store import PrivateStore


def refuse_name_taken(git_dir: Path, ref: str) -> None:
    """Refuse if a branch cannot be made because git keeps another one above or below its name."""
    parts = ref.split("/")
    above = ["/".join(parts[:count]) for count in range(3, len(parts))]
    listed = user_git(git_dir).call("for-each-ref", "--format=%(refname)", *above, f"{ref}/").text
    taken = [n for n in listed.splitlines() if n in above or n.startswith(f"{ref}/")]
    if taken:
        branch, other = (name.removeprefix("refs/heads/") for name in (ref, taken[0]))
        raise RefusedError(
            f"branch {branch!r} is gone and cannot come back beside branch {other!r}",
            hint=f"rename the other one first: git branch -m {other} NEW-NAME",
        )


def delete_branch(store: PrivateStore, git_dir: Path, branch: str, commit: CommitId) -> bool:
    """Delete a branch that still points at a commit; False if it stays.

    It stays where somebody moved it, checked it out, or made it another name of a branch.
    """
    ref = f"refs/heads/{branch}"
    common_dir = store.common_dir
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
