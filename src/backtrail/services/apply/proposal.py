"""What applying a plan would make of its target: computed in no working tree, changing nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backtrail.domain.errors import RefusedError
from backtrail.domain.ids import TreeId
from backtrail.domain.settings import ApplyStrategy
from backtrail.git.applying.merging import Merger
from backtrail.git.applying.tree import stage_sandbox
from backtrail.git.store.objects import empty_tree
from backtrail.git.user.head import read_git_state

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.domain.ids import CommitId
    from backtrail.git.process.users_git import UsersGit
    from backtrail.services.apply.target import Target
    from backtrail.services.session.context import LockedSandbox


@dataclass(frozen=True, slots=True)
class Proposal:
    """The sandbox's final state, and the state that the target would get."""

    target: Target
    merger: Merger
    """Merges as git would in the target's checkout, whose attributes hold."""
    strategy: ApplyStrategy
    head: CommitId | None
    """The sandbox's HEAD."""
    tree: TreeId
    """The sandbox's files, as git would commit them."""
    committed: bool
    """Whether HEAD has these very files already."""
    merged: TreeId
    before: TreeId
    """The target's tree now."""
    empty: bool
    hidden: tuple[str, ...]

    def subjects(self) -> list[str]:
        """Of the sandbox's commits that the target does not have."""
        if self.head is None or self.target.old is None:
            return []
        return self.merger.subjects(self.head, self.target.old)


def propose(
    locked: LockedSandbox, users: UsersGit, target: Target, strategy: ApplyStrategy, index: Path
) -> Proposal:
    """Look at the sandbox and merge; raises if the two do not go together."""
    sandbox = locked.sandbox
    head = read_git_state(sandbox.git_dir, sandbox.branch).head_commit
    hidden = stage_sandbox(users, locked.workspace.user, sandbox, head, index)
    tree = TreeId(users.on(sandbox.path, index).call("write-tree").text)
    merger = _merger_for(users, target)
    committed = head is not None and merger.tree_of(head) == tree
    nothing = empty_tree(locked.store.id_length())
    found = Proposal(
        target=target,
        merger=merger,
        strategy=strategy,
        head=head,
        tree=tree,
        committed=committed,
        merged=tree,
        before=merger.tree_of(target.old) if target.old else nothing,
        empty=False,
        hidden=hidden,
    )
    return _forwarded(found) if strategy is ApplyStrategy.FF else _merged(locked, found)


def _merger_for(users: UsersGit, target: Target) -> Merger:
    checkout = target.checkout
    if checkout is None or target.in_place:
        return Merger(users.plumbing())
    return Merger(users.on(checkout.root, checkout.git_dir / "index"))


def _merged(locked: LockedSandbox, found: Proposal) -> Proposal:
    old = found.target.old
    if old is not None and old != found.head:
        base = locked.sandbox.base_commit
        found = replace(found, merged=found.merger.merged(old, found.tree, found.head, base))
    return replace(found, empty=found.merged == found.before)


def _forwarded(found: Proposal) -> Proposal:
    """The branch moves to the sandbox's HEAD, or to a commit on top of it."""
    old, head = found.target.old, found.head
    if old is None:
        return replace(found, empty=head is None and found.tree == found.before)
    if head is not None and found.committed and found.merger.contains(old, head):
        return replace(found, merged=found.before, empty=True)
    if head is None or not found.merger.contains(head, old):
        raise RefusedError(
            f"branch {found.target.branch!r} has commits that the sandbox does not have: "
            "it cannot simply move forward",
            hint="use --strategy squash or merge, or rebase the sandbox onto the branch",
        )
    return found
