"""Turning the files of a sandbox into a tree of the private store.

What is captured is a function of the disk, the ignore rules and the user's index alone, never of
history: everything not ignored, plus what the user's index tracks, plus what the caller demands.
Untracked files beyond the size limit, special files and what cannot be read are left out, and
noted with the reason.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import TreeId
from backtrail.git.capture.storing import Storing, take_out
from backtrail.git.ignore.eligibility import UNREADABLE, UNSTEADY, Sieve
from backtrail.git.ignore.ignored import Ignored
from backtrail.git.ignore.listing import UNTRACKED, Listing
from backtrail.git.ignore.untracked import Lister, Untracked
from backtrail.git.metadata.inventory import Touched
from backtrail.git.osfiles.beneath import parents_of
from backtrail.git.osfiles.paths import exists_inside, is_directory_inside
from backtrail.git.process.runner import GitRunner, RunningGit
from backtrail.git.process.stderr import understood_of_entries
from backtrail.git.store.objects import empty_tree

# How long to wait, in seconds, before each further look at a tree that does not hold still.
_PAUSES = (0.01, 0.05, 0.2)


@dataclass(frozen=True, slots=True)
class _Differences:
    """What differs between the private index and what should be in it."""

    changed: list[bytes]
    deleted: list[bytes]
    untracked: Untracked
    dropped: list[bytes]
    tracked_ignored: list[bytes]
    ignored: Ignored


@dataclass(frozen=True, slots=True)
class Looking:
    """A comparison of the working index with the disk that is under way."""

    changes: RunningGit
    untracked: Listing
    ignored: Listing
    tracked: RunningGit | None


@dataclass(slots=True)
class Snapshot:
    """One capture in progress, on a working copy of the private index."""

    lister: Lister
    user_index: Path | None
    """A copy of the user's index: what it tracks is captured even if ignored."""
    max_file_size: int
    not_captured: dict[bytes, NotCaptured] = field(default_factory=dict[bytes, NotCaptured])
    added: list[bytes] = field(default_factory=list[bytes])
    removed: list[bytes] = field(default_factory=list[bytes])
    untracked: Untracked = field(default_factory=Untracked)
    ignored: Ignored = field(default_factory=Ignored)
    """What is ignored and in no index."""

    @property
    def git(self) -> GitRunner:
        return self.lister.git

    def start_look(self, changes: RunningGit) -> Looking:
        """Begin with the rest of a look at the disk, of which the comparison is under way.

        All look at the same index and none writes it, so they run side by side.
        """
        return Looking(
            changes=changes,
            untracked=self.lister.start(),
            ignored=self.lister.start_ignored(),
            tracked=self._tracked_ignored(self.user_index) if self.user_index else None,
        )

    def refresh(self, looking: Looking) -> None:
        """Bring the working index up to date with the disk."""
        found = self._steady_findings(looking)
        self.untracked = found.untracked
        self.ignored, moved = found.ignored, bool(found.dropped or found.tracked_ignored)
        removed = [*found.deleted, *found.dropped]
        if removed:
            self.forget(removed)
            if any(is_directory_inside(self.lister.root, path) for path in found.deleted):
                # What replaced a file by a directory shows only now that the file is gone.
                self.untracked, moved = self.lister.list(), True
        for path in self.untracked.vanished:
            self._note(path, UNSTEADY)
        self._add(
            [*found.changed, *self.untracked.files, *found.tracked_ignored],
            held=set(found.changed),
            max_file_size=self.max_file_size,
        )
        if moved or self.untracked.repositories:
            self.look_at_ignored()
        self._note_unreadable(self.untracked.unreadable)

    def look_at_ignored(self) -> None:
        """Look at what is ignored anew: the index holds other paths by now."""
        self.ignored = self.lister.ignored(self.untracked.repositories)

    def _note_unreadable(self, paths: Sequence[bytes]) -> None:
        """Note these; what is below a directory that cannot be read goes without saying."""
        if paths:
            closed, noted = set(paths), self.not_captured
            kept = {p: note for p, note in noted.items() if closed.isdisjoint(parents_of(p))}
            self.not_captured = kept
        for path in paths:
            self._note(path, UNREADABLE)

    def touched(self) -> Touched:
        return Touched(tuple(self.added), tuple(self.removed), self.untracked)

    def _steady_findings(self, looking: Looking) -> _Differences:
        """What differs, looked for anew while things come and go under the eyes of git."""
        for pause in _PAUSES:
            try:
                found = self._findings(looking)
            except GitFailedError:
                found = None
            if found and not found.untracked.vanished:
                return found
            time.sleep(pause)
            looking = self.start_look(start_changes(self.git))
        return self._findings(looking)

    def _findings(self, looking: Looking) -> _Differences:
        changed, deleted = _changes_in(looking.changes)
        untracked = self.lister.finish(looking.untracked)
        held_though_ignored, ignored = self.lister.finish_ignored(looking.ignored)
        tracked = looking.tracked
        wanted = set(tracked.finish().checked().records()) if tracked else set[bytes]()
        dropped = held_though_ignored - wanted
        root = self.lister.root
        # A repository with commits in the place of a file is a change for git, which would take it
        # for a submodule. For us the file is gone, and what is in the repository is new.
        replaced = {path for path in changed if is_directory_inside(root, path)}
        return _Differences(
            # An edit does not bring back what has come to be ignored.
            changed=[path for path in changed if path not in dropped and path not in replaced],
            deleted=[*deleted, *sorted(replaced)],
            untracked=untracked,
            dropped=sorted(dropped),
            tracked_ignored=sorted(
                p for p in wanted - held_though_ignored if exists_inside(root, p)
            ),
            ignored=ignored,
        )

    def _tracked_ignored(self, index: Path) -> RunningGit:
        return self.git.start(
            *self.lister.words, "ls-files", "-c", "-i", "-z", "--exclude-standard",
            extra={"GIT_INDEX_FILE": str(index)},
        )  # fmt: skip

    def forget(self, paths: list[bytes]) -> None:
        """Take paths out of the working index; the disk is not touched."""
        if paths:
            self.removed += paths
            take_out(self.git, paths)

    def add(self, paths: list[bytes]) -> None:
        """Capture these paths whatever their size; what cannot be captured is noted."""
        self._add(paths, held=set(), max_file_size=None)

    def _add(self, paths: list[bytes], *, held: set[bytes], max_file_size: int | None) -> None:
        sieve = Sieve(self.lister.root, max_file_size, self._tracked_by_user)
        storing = Storing(self.git, sieve, held)
        storing.store(paths)
        self.added += (path for path in storing.stored if path not in storing.left_out)
        self.removed += storing.removed
        self.not_captured |= storing.left_out

    def start_write_tree(self) -> TreeWriting:
        return TreeWriting(self, self.git.start("write-tree"))

    def check_really_empty(self) -> None:
        """Refuse the empty tree of an index that a failed update has left empty."""
        nothing = {"GIT_INDEX_FILE": self.git.environment["GIT_INDEX_FILE"] + ".none"}
        words = (*self.lister.words, *UNTRACKED)
        seen = self.lister.ask(*words, index=nothing).finish()
        missed = [p for p in seen.records() if not p.endswith(b"/") and p not in self.not_captured]
        if seen.code or missed:
            raise GitFailedError("the snapshot came out empty although the sandbox has files")

    def _tracked_by_user(self, paths: list[bytes]) -> set[bytes]:
        if self.user_index is None:
            return set()
        extra = {"GIT_INDEX_FILE": str(self.user_index)}
        listed = self.git.call("ls-files", "-c", "-z", extra=extra)
        return set(paths).intersection(listed.records())

    def _note(self, path: bytes, reason: str) -> None:
        self.not_captured[path] = NotCaptured(os.fsdecode(path), reason)


def start_changes(git: GitRunner) -> RunningGit:
    """Begin to compare the working index with the disk, which takes longest of all."""
    return git.start("diff-files", "--ignore-submodules=all", "-z", "--name-status")


def _changes_in(comparison: RunningGit) -> tuple[list[bytes], list[bytes]]:
    """Paths that have changed and paths that are gone.

    What cannot even be looked at counts as changed: whoever captures it will find out and say so.
    """
    compared, complaints = understood_of_entries(comparison.finish())
    changed: list[bytes] = list(complaints.entries)
    deleted: list[bytes] = []
    records = compared.checked().records()
    for status, path in zip(records[::2], records[1::2], strict=True):
        (deleted if status == b"D" else changed).append(path)
    return changed, deleted


@dataclass(slots=True)
class TreeWriting:
    """The tree of a snapshot's files, as it is being written."""

    snapshot: Snapshot
    running: RunningGit
    tree: TreeId | None = None

    def finish(self) -> TreeId:
        if self.tree is None:
            self.tree = TreeId(self.running.finish().checked().text)
            if self.tree == empty_tree(len(self.tree)):
                self.snapshot.check_really_empty()
        return self.tree
