"""Putting files into an index and their content into the store, although they may be changing.

A file that changes while it is read counts as not read: what git stored of it may be a mixture. It
is read again a few times, then left out. That git fails is no reason to fail as long as a file has
changed meanwhile: the others are stored without it. Who fails while nothing changes, fails.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.errors import GitFailedError
from backtrail.git.ignore.eligibility import (
    REFUSED_NAME,
    UNSTEADY,
    Sieve,
    Storable,
    changed_while_read,
)
from backtrail.git.osfiles.paths import exists_inside
from backtrail.git.process.environment import STREAMED_FROM
from backtrail.git.process.runner import GitRunner, Output, nul_joined
from backtrail.git.process.stderr import beyond_links, without_rules

_ATTEMPTS = 4
# Git collects small objects in a directory aside, to bring them to disk at once. The pack of a
# large file that is begun meanwhile is begun in there, and git fails when it is to get its name:
# large files come alone, and are brought to disk one by one.
_LARGE_ALONE = ("-c", "core.fsyncMethod=fsync")


@dataclass(slots=True)
class Storing:
    """Files on their way into one working index."""

    git: GitRunner
    sieve: Sieve
    held: set[bytes]
    """Paths that the index may hold: if they cannot be stored any more, they leave it."""
    stored: list[bytes] = field(default_factory=list[bytes])
    removed: list[bytes] = field(default_factory=list[bytes])
    left_out: dict[bytes, NotCaptured] = field(default_factory=dict[bytes, NotCaptured])

    def store(self, paths: Iterable[bytes]) -> None:
        """Have each path in the index as it is on disk; what cannot be stored is noted."""
        waiting = list(dict.fromkeys(paths))
        for _ in range(_ATTEMPTS):
            if not waiting:
                return
            waiting = self._attempt(waiting)
            self.held.update(waiting)
        self._leave_out([NotCaptured(os.fsdecode(path), UNSTEADY) for path in waiting])

    def _attempt(self, paths: list[bytes]) -> list[bytes]:
        """Store what can be stored; gives the paths that changed meanwhile."""
        storable, left_out = self.sieve.sift(paths)
        self._leave_out(left_out)
        self._take_out([path for path, found in storable.items() if found is None])
        large = {path: found for path, found in storable.items() if _is_streamed(found)}
        small: Storable = {p: found for p, found in storable.items() if found and p not in large}
        return [*self._store(small), *self._store(large, *_LARGE_ALONE)]

    def _store(self, files: Storable, *settings: str) -> list[bytes]:
        changed: list[bytes] = []
        tried_again = False
        while files:
            output = self._update(list(files), *settings)
            meanwhile = changed_while_read(self.sieve.root, files)
            # A directory above may have become a link for no longer than git looked at it.
            beyond = beyond_links(output.stderr, files)
            meanwhile += [path for path in beyond if path in files and path not in meanwhile]
            changed += meanwhile
            if not output.code and not output.stderr:
                self.stored += files
                break
            if not meanwhile and tried_again:
                output.checked()
                raise GitFailedError("git did not store all files, and did not say why")
            # Dates are coarse: what changed may have got the very date that it had.
            tried_again = not meanwhile
            gone = set(meanwhile)
            files = {path: found for path, found in files.items() if path not in gone}
        return changed

    def _update(self, paths: list[bytes], *settings: str) -> Output:
        output = self.git.run(
            *settings, "update-index", "-z", "--add", "--remove", "--replace", "--stdin",
            stdin=nul_joined(paths),
        )  # fmt: skip
        if output.code < 0:
            # Killed by a signal, as by a file that became shorter under its eyes.
            Path(self.git.environment["GIT_INDEX_FILE"] + ".lock").unlink(missing_ok=True)
        return self._without_refused_names(output, paths)

    def _without_refused_names(self, output: Output, paths: list[bytes]) -> Output:
        # With these git goes on: they must not count as a failure to store anything.
        said, refused = without_rules(output.stderr), list[bytes]()
        for path in paths if said else ():
            line = b"Ignoring path " + path + b"\n"
            if line in said:
                said = said.replace(line, b"")
                refused.append(path)
        self._leave_out([NotCaptured(os.fsdecode(path), REFUSED_NAME) for path in refused])
        return replace(output, stderr=said)

    def _leave_out(self, notes: list[NotCaptured]) -> None:
        noted = {os.fsencode(note.path): note for note in notes}
        self.left_out |= noted
        # What was captured before and cannot be any more leaves the index.
        self._take_out([path for path in noted if path in self.held])

    def _take_out(self, paths: list[bytes]) -> None:
        if paths:
            self.removed += paths
            take_out(self.git, paths)


def take_in(git: GitRunner, root: Path, paths: Iterable[bytes]) -> None:
    """Fill an index with those of the paths that are there, all of which have to hold still."""
    storing = Storing(git, Sieve(root, None, lambda _: set()), set())
    storing.store(path for path in paths if exists_inside(root, path))
    for note in storing.left_out.values():
        raise GitFailedError(f"{note.path!r} cannot be read: {note.reason}")


def take_out(git: GitRunner, paths: list[bytes]) -> None:
    """Take paths out of an index."""
    git.call("update-index", "-z", "--force-remove", "--stdin", stdin=nul_joined(paths))


def _is_streamed(found: os.stat_result | None) -> bool:
    return found is not None and stat.S_ISREG(found.st_mode) and found.st_size >= STREAMED_FROM
