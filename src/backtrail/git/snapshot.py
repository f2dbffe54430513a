"""Turning the files of a sandbox into a tree of the private store.

What is captured is a function of the disk, the ignore rules and the user's index alone, never of
history: everything not ignored, plus what the user's index tracks, plus what the caller demands.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import TreeId
from backtrail.git.paths import lstat_inside
from backtrail.git.runner import GitRunner, Output, RunningGit, nul_joined
from backtrail.git.trees import empty_tree

if TYPE_CHECKING:
    from pathlib import Path

NESTED = "nested repository"
SPECIAL = "special file"
REFUSED_NAME = "git cannot store this name"


@dataclass(frozen=True, slots=True)
class CaptureInputs:
    """What decides, together with the disk, which files are captured."""

    root: Path
    excludes_setting: str
    user_index: Path | None
    """A copy of the user's index: what it tracks is captured even if ignored."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What differs between the private index and what should be in it."""

    changed: list[bytes]
    deleted: list[bytes]
    untracked: list[bytes]
    dropped: list[bytes]
    tracked_ignored: list[bytes]


@dataclass(frozen=True, slots=True)
class Looking:
    """A comparison of the working index with the disk that is under way."""

    changes: RunningGit
    untracked: RunningGit
    ignored: RunningGit
    tracked: RunningGit | None


@dataclass(slots=True)
class Snapshot:
    """One capture in progress, on a working copy of the private index."""

    git: GitRunner
    inputs: CaptureInputs
    not_captured: dict[bytes, NotCaptured] = field(default_factory=dict[bytes, NotCaptured])
    added: list[bytes] = field(default_factory=list[bytes])

    def start_look(self) -> Looking:
        """Begin to compare the working index with the disk.

        All look at the same index and none writes it, so they run side by side.
        """
        user_index = self.inputs.user_index
        return Looking(
            changes=self.git.start("diff-files", "--ignore-submodules=all", "-z", "--name-status"),
            untracked=self._untracked(),
            ignored=self._ignored_entries(None),
            tracked=self._ignored_entries(user_index) if user_index else None,
        )

    def refresh(self, looking: Looking, *, keep_ignored: bool = False) -> None:
        """Bring the working index up to date with the disk; `keep_ignored` drops nothing."""
        found = self._findings(looking, keep_ignored=keep_ignored)
        untracked = found.untracked
        removed = [*found.deleted, *found.dropped]
        if removed:
            self.forget(removed)
            if any(self._is_directory(path) for path in found.deleted):
                # What replaced a file by a directory shows only now that the file is gone.
                untracked = self._untracked().finish().checked().records()
        self.add([*found.changed, *untracked, *found.tracked_ignored])

    def _findings(self, looking: Looking, *, keep_ignored: bool) -> Findings:
        changed, deleted = _parse_changes(looking.changes.finish().checked().records())
        others = looking.untracked.finish().checked().records()
        held_though_ignored = set(looking.ignored.finish().checked().records())
        tracked = looking.tracked
        wanted = set(tracked.finish().checked().records()) if tracked else set[bytes]()
        dropped = set[bytes]() if keep_ignored else held_though_ignored - wanted
        return Findings(
            # An edit does not bring back what has come to be ignored.
            changed=[path for path in changed if path not in dropped],
            deleted=deleted,
            untracked=others,
            dropped=sorted(dropped),
            tracked_ignored=sorted(p for p in wanted - held_though_ignored if self._exists(p)),
        )

    def _untracked(self) -> RunningGit:
        return self.git.start(
            "-c", self.inputs.excludes_setting, "ls-files", "-o", "-z", "--exclude-standard"
        )

    def _ignored_entries(self, index: Path | None) -> RunningGit:
        return self.git.start(
            "-c", self.inputs.excludes_setting, "ls-files", "-c", "-i", "-z", "--exclude-standard",
            extra={"GIT_INDEX_FILE": str(index)} if index else None,
        )  # fmt: skip

    def forget(self, paths: list[bytes]) -> None:
        """Take paths out of the working index; the disk is not touched."""
        if paths:
            self.git.call(
                "update-index", "-z", "--force-remove", "--stdin", stdin=nul_joined(paths)
            )

    def add(self, paths: list[bytes]) -> None:
        """Capture these paths; what cannot be captured is noted, with the reason."""
        storable = [path for path in dict.fromkeys(paths) if self._storable(path)]
        self.forget([p for p, n in self.not_captured.items() if n.reason == SPECIAL])
        if not storable:
            return
        self.added += storable
        output = self.git.run(
            "update-index", "-z", "--add", "--remove", "--replace", "--stdin",
            stdin=nul_joined(storable),
        )  # fmt: skip
        self._note_refused_names(output, storable)

    def write_tree(self) -> TreeId:
        return self.finish_write_tree(self.start_write_tree())

    def start_write_tree(self) -> RunningGit:
        return self.git.start("write-tree")

    def finish_write_tree(self, writing: RunningGit) -> TreeId:
        tree = TreeId(writing.finish().checked().text)
        if tree == empty_tree(len(tree)):
            self._check_really_empty()
        return tree

    def _check_really_empty(self) -> None:
        # A failed update can leave an empty index, of which write-tree makes an empty tree.
        nothing = {"GIT_INDEX_FILE": self.git.environment["GIT_INDEX_FILE"] + ".none"}
        seen = self.git.call(
            "-c", self.inputs.excludes_setting, "ls-files", "-o", "-z", "--exclude-standard",
            extra=nothing,
        )  # fmt: skip
        missed = [p for p in seen.records() if not p.endswith(b"/") and p not in self.not_captured]
        if missed:
            raise GitFailedError("the snapshot came out empty although the sandbox has files")

    def _storable(self, path: bytes) -> bool:
        if path.endswith(b"/"):
            self._note(path, NESTED)
            return False
        found = lstat_inside(self.inputs.root, path)
        if found is None or stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode):
            return True
        self._note(path, NESTED if stat.S_ISDIR(found.st_mode) else SPECIAL)
        return False

    def _note(self, path: bytes, reason: str) -> None:
        self.not_captured[path] = NotCaptured(os.fsdecode(path), reason)

    def _note_refused_names(self, output: Output, paths: list[bytes]) -> None:
        said = output.stderr
        for path in paths:
            line = b"Ignoring path " + path + b"\n"
            if line in said:
                said = said.replace(line, b"")
                self._note(path, REFUSED_NAME)
        Output(output.arguments, output.code, output.stdout, said).checked()

    def _exists(self, path: bytes) -> bool:
        found = lstat_inside(self.inputs.root, path)
        return found is not None and not stat.S_ISDIR(found.st_mode)

    def _is_directory(self, path: bytes) -> bool:
        found = lstat_inside(self.inputs.root, path)
        return found is not None and stat.S_ISDIR(found.st_mode)


def _parse_changes(records: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    changed: list[bytes] = []
    deleted: list[bytes] = []
    for status, path in zip(records[::2], records[1::2], strict=True):
        (deleted if status == b"D" else changed).append(path)
    return changed, deleted
