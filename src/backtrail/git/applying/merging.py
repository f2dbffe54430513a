"""Merging without a working tree, and questions about ancestry, in the user's repository."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from backtrail.domain.errors import ApplyConflictError
from backtrail.domain.ids import CommitId, TreeId
from backtrail.git.process.environment import IDENTITY
from backtrail.git.process.runner import GitRunner

_CONFLICT = 1
_NO = 1


@dataclass(frozen=True, slots=True)
class Merger:
    """Merges by the user's settings; attributes are read where git works."""

    git: GitRunner

    def tree_of(self, commit: CommitId) -> TreeId:
        return TreeId(self.git.call("rev-parse", "--verify", f"{commit}^{{tree}}").text)

    def contains(self, commit: CommitId, ancestor: CommitId) -> bool:
        """Whether a commit has another one in its history, or is that one."""
        return self._has_base("--is-ancestor", ancestor, commit)

    def subjects(self, commit: CommitId, known: CommitId) -> list[str]:
        """What the commits between two say of themselves, oldest first."""
        output = self.git.call("log", "--reverse", "--format=%s", commit, "--not", known, "--")
        return output.text.splitlines()

    def merged(
        self, ours: CommitId, tree: TreeId, theirs: CommitId | None, base: CommitId | None
    ) -> TreeId:
        """The tree that comes of merging a tree, made on top of `theirs`, into `ours`.

        Where the two histories have nothing in common, a shallow clone's for instance, `base` is
        what both began with.
        """
        if theirs and self._has_base(ours, theirs):
            return self._merge(ours, self._commit(tree, theirs))
        root = self._commit(self.tree_of(base), None) if base else None
        return self._merge(self._commit(self.tree_of(ours), root), self._commit(tree, root))

    def _has_base(self, *words: str) -> bool:
        output = self.git.run("merge-base", *words)
        return (output if output.code == _NO else output.checked()).code == 0

    def _merge(self, ours: CommitId, theirs: CommitId) -> TreeId:
        output = self.git.run(
            "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages",
            "--allow-unrelated-histories", ours, theirs,
        )  # fmt: skip
        if output.code != _CONFLICT:
            output.checked(quiet=False)
        tree, *conflicts = output.records()
        if output.code == _CONFLICT:
            raise _conflict(list(dict.fromkeys(map(os.fsdecode, conflicts))))
        return TreeId(tree.decode())

    def _commit(self, tree: TreeId, parent: CommitId | None) -> CommitId:
        """A commit that nothing will ever refer to: git merges commits, not trees."""
        parents = ("-p", parent) if parent else ()
        output = self.git.call(
            "commit-tree", "--no-gpg-sign", *parents, tree, stdin=b"", extra=IDENTITY
        )
        return CommitId(output.text)


def _conflict(files: Sequence[str]) -> ApplyConflictError:
    number = "1 file" if len(files) == 1 else f"{len(files)} files"
    return ApplyConflictError(
        f"the plan and its target changed the same places of {number}; nothing was changed",
        hint="merge the target into the sandbox, resolve the conflicts there, and apply again",
        details={"conflicts": files},
    )
