"""Branches of the user's repository that are ours: deleting one, if it is what it should be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.git.gitstate import branch_checked_out_elsewhere, resolve_refs, user_git

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.ids import CommitId
    from backtrail.git.store import PrivateStore


def delete_branch(store: PrivateStore, git_dir: Path, branch: str, commit: CommitId) -> bool:
    """Delete a branch that still points at a commit; False if it stays.

    It stays where somebody moved it, checked it out, or made it another name of a branch.
    """
    ref = f"refs/heads/{branch}"
    common_dir = store.common_dir
    now = resolve_refs(common_dir, [ref]).get(ref)
    if now is None:
        return True
    git = user_git(common_dir, store.lock_descriptors)
    alias = git.run("symbolic-ref", "--quiet", ref).code == 0
    if now != commit or alias or branch_checked_out_elsewhere(common_dir, git_dir, branch):
        return False
    git.call("update-ref", "--no-deref", "-d", ref, commit)
    return True
