"""A checkpoint as git itself would commit it: with the filters and submodules that the user has.

A checkpoint's tree has the bytes that were on disk. In a branch they must be what `git add` makes
of them, or every file that a filter touches would look changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError, UsageError
from backtrail.git.gitstate import resolve_refs, user_git
from backtrail.git.ignore import scratch_directory
from backtrail.git.materialize import materialize
from backtrail.git.transfer import send_back

if TYPE_CHECKING:
    from backtrail.domain.ids import CommitId
    from backtrail.git.capture import Captured
    from backtrail.git.store import PrivateStore
    from backtrail.git.worktree import UserRepository


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
