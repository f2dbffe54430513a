"""Branches of the user's repository that are ours: whether one can be made, and deleting one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.git.gitstate import branch_checked_out_elsewhere, resolve_refs, user_git

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.ids import CommitId
    from backtrail.git.store import PrivateStore


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
