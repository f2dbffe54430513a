"""Making a commit as the user would: with their hooks and their key, but on no branch yet.

It is made in a working tree of its own, which git knows of only while it works there: nothing is
registered, so that a crash leaves nothing but a directory.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from backtrail.domain.errors import RefusedError
from backtrail.domain.ids import CommitId, TreeId
from backtrail.git.ignore.rules import UserSettings, configuration_reader
from backtrail.git.process.users_git import UsersGit
from backtrail.git.store.set_aside import delete
from backtrail.git.user.head import user_git

BEFORE = ("pre-commit", "prepare-commit-msg", "commit-msg")
AFTER = "post-commit"


@dataclass(frozen=True, slots=True)
class Hooks:
    """Those that there are, by name."""

    directory: Path
    names: frozenset[str]

    def wrap(self, directory: Path) -> None:
        """Let a directory hold those that run before a commit is on its branch.

        Each is called by its own name, since many look for files beside themselves.
        """
        directory.mkdir()
        for name in self.names.intersection(BEFORE):
            wrapper = directory / name
            wrapper.write_text(f'#!/bin/sh\nexec {shlex.quote(str(self.directory / name))} "$@"\n')
            wrapper.chmod(0o700)


def find_hooks(common_dir: Path, user: UserSettings, root: Path) -> Hooks:
    """The hooks of the repository; a relative folder is the one in the user's own checkout.

    Not the one among the files to be committed: an agent may have written those.
    """
    reader = configuration_reader(common_dir, user)
    configured = reader.run("config", "--type=path", "--get", "core.hooksPath").text
    directory = root / configured if configured else common_dir / "hooks"
    present = (name for name in (*BEFORE, AFTER) if os.access(directory / name, os.X_OK))
    return Hooks(directory, frozenset(present))


_UNBORN = "ref: refs/worktree/apply"
"""Refs below `refs/worktree` are a worktree's own: this one goes with the directory."""


@dataclass(frozen=True, slots=True)
class Committer:
    """Makes commits in a directory that is there only meanwhile."""

    users: UsersGit
    hooks: Hooks
    place: Path
    verify: bool

    @property
    def _git_dir(self) -> Path:
        return self.place / "git"

    @property
    def _tree(self) -> Path:
        return self.place / "tree"

    def commit(self, tree: TreeId, parents: Sequence[CommitId], message: str) -> CommitId:
        """A commit of that tree, unless a hook changes it; refused if one says no."""
        self._furnish(tree, parents)
        git = self.users.committing(self._tree, self.place / "hooks")
        flags = () if self.verify else ("--no-verify",)
        output = git.run("commit", "--quiet", "--file=-", *flags, stdin=message.encode())
        if output.code:
            said = (output.complaint() + "\n" + output.text).strip().splitlines()
            raise RefusedError(
                f"git commit refused the change: {said[0]}",
                hint="a hook or a setting of yours said no; --no-verify leaves out pre-commit "
                "and commit-msg, as in git",
                details={"output": said},
            )
        return CommitId(user_git(self._git_dir).call("rev-parse", "--verify", "HEAD").text)

    def _furnish(self, tree: TreeId, parents: Sequence[CommitId]) -> None:
        delete(self.place)
        for directory in (self.place, self._git_dir, self._tree):
            directory.mkdir(mode=0o700, parents=True)
        link = self._tree / ".git"
        link.write_text(f"gitdir: {self._git_dir}\n")
        (self._git_dir / "gitdir").write_text(f"{link}\n")
        (self._git_dir / "commondir").write_text(f"{self.users.common_dir}\n")
        (self._git_dir / "HEAD").write_text(f"{parents[0] if parents else _UNBORN}\n")
        if parents[1:]:
            (self._git_dir / "MERGE_HEAD").write_text(f"{parents[1]}\n")
            # Else git would leave out a parent that the other one contains.
            (self._git_dir / "MERGE_MODE").write_text("no-ff")
        self.hooks.wrap(self.place / "hooks")
        git = self.users.on(self._tree, self._git_dir / "index", self._git_dir)
        # Hooks look at files; without any there is no need to write them all.
        write = ("--reset", "-u") if self.hooks.names else ()
        output = git.run("-c", "core.sparseCheckout=false", "read-tree", *write, tree)
        output.checked(quiet=False)

    def run_post_commit(self, checkout: Path | None) -> str | None:
        """Run the hook for a commit that is on its branch now; gives what went wrong."""
        if AFTER not in self.hooks.names:
            return None
        git = self.users.committing(checkout or self._tree, self.hooks.directory)
        output = git.run("hook", "run", AFTER)
        return f"the hook {AFTER} failed: {output.complaint()}" if output.code else None


@contextmanager
def temporary(place: Path) -> Generator[Path]:
    """A directory that is gone afterwards, and the one above it if that is empty then."""
    try:
        yield place
    finally:
        with suppress(OSError):
            delete(place)
            place.parent.rmdir()
