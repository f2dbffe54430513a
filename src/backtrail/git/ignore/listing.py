"""Listing what an index does not hold, so that it comes to an end whatever is in a sandbox.

To tell whether a directory is a repository git opens files in its `.git`, where it may wait for
ever. Of a directory that holds something of the index it does not ask that.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from backtrail.git.osfiles.walk import walk
from backtrail.git.process.runner import GitRunner, Output, RunningGit, WaitingError, nul_joined
from backtrail.git.store.index import copied
from backtrail.git.store.store import PrivateStore, scratch_directory

UNTRACKED = ("ls-files", "-o", "-z", "--exclude-standard")
# Arguments beyond this are not worth the risk of the system's limit: then everything is listed.
_ARGUMENTS_LENGTH = 60_000


def only_below(paths: Sequence[bytes]) -> list[str]:
    """Arguments that restrict a listing to these paths; with none, it lists everything."""
    if not paths or sum(map(len, paths)) > _ARGUMENTS_LENGTH:
        return []
    # Git would begin at what all have in common, and stop there if that is a repository. Beside a
    # name that is never listed they have nothing in common.
    return ["--", ".git", *map(os.fsdecode, paths)]


def take_for_directories(
    git: GitRunner, directories: Sequence[bytes], scratch: Mapping[str, str] | None = None
) -> None:
    """Make git take directories, repositories too, for ones that hold something of the index."""
    if not directories:
        return
    empty = git.call("hash-object", "-w", "--stdin", stdin=b"").text.encode()
    probe = b".backtrail-" + secrets.token_hex(8).encode()
    lines = [b"100644 %s 0\t%s%s" % (empty, path, probe) for path in directories]
    git.call("update-index", "-z", "--index-info", stdin=nul_joined(lines), extra=scratch)


@dataclass(slots=True)
class Listing:
    """A listing that is under way, and that comes to an end whatever is in a `.git`."""

    store: PrivateStore
    git: GitRunner
    root: Path
    arguments: Sequence[str]
    index: Mapping[str, str] | None
    running: RunningGit
    unasked: list[bytes] = field(default_factory=list[bytes])
    """Directories with a `.git` that git was kept from asking; each ends in a slash."""

    def covers(self, directory: bytes) -> bool:
        """Whether it was asked for what is in a directory."""
        _, _, places = "\0".join(self.arguments).partition("\0--\0")
        below = tuple(map(os.fsencode, places.split("\0"))) if places else (b"",)
        return directory.startswith(below)

    def finish(self) -> Output:
        try:
            return self.running.finish()
        except WaitingError:
            self.unasked = _with_git(self.root)
            if not self.unasked:
                raise
        with scratch_directory(self.store) as directory:
            known = replace(self.git, environment={**self.git.environment, **(self.index or {})})
            index = {"GIT_INDEX_FILE": str(copied(known, directory / "index"))}
            take_for_directories(self.git, self.unasked, index)
            return self.git.run(*self.arguments, extra=index)


def start_listing_others(
    store: PrivateStore,
    git: GitRunner,
    root: Path,
    *arguments: str,
    index: Mapping[str, str] | None = None,
) -> Listing:
    """Begin to list what an index, by default that of `git`, does not hold."""
    return Listing(store, git, root, arguments, index, git.start(*arguments, extra=index))


def _with_git(root: Path) -> list[bytes]:
    """The directories below the root that hold an entry named `.git`."""
    found = ((d, entries) for d, entries in walk(root) if d)
    return [d + b"/" for d, entries in found if any(e.name == b".git" for e in entries)]
