"""What a checkpoint adds to the store, whether all of it is there, and whether it is sound.

Git does not write an object that it finds in the store, and the store holds links to the user's
objects. One that is damaged there would pass for content until somebody needs it.

`update-ref` checks only the object that it is given. A full walk costs as much as the tree is
large; here only what differs from an already complete tree is looked at. Objects that were linked
from the user's repository are read, since git stores nothing where it finds an object already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backtrail.domain.ids import CommitId
from backtrail.git.process.runner import RunningGit
from backtrail.git.store.objects import GITLINK, RAW_CHANGE, empty_tree, id_lines
from backtrail.git.store.store import PrivateStore


def contents_are_sound(store: PrivateStore, object_ids: Sequence[str]) -> bool:
    """Let git read those of the objects that are not loose files of our own.

    A loose one that is damaged is removed (the user's own name for it stays), so that the next
    snapshot writes it anew.
    """
    doubtful = [i for i in dict.fromkeys(object_ids) if not _is_ours(_loose(store, i))]
    if not doubtful:
        return True
    words = ("rev-list", "--verify-objects", "--no-walk=unsorted", "--quiet", "--stdin")
    read = store.git().run(*words, stdin=id_lines(doubtful))
    if read.code == 0:
        return True
    for object_id in doubtful:
        if object_id.encode() in read.stderr:
            _loose(store, object_id).unlink(missing_ok=True)
    return False


def _loose(store: PrivateStore, object_id: str) -> Path:
    return store.git_dir / "objects" / object_id[:2] / object_id[2:]


def _is_ours(path: Path) -> bool:
    # What git has just written has one name only; a link into the user's repository has two.
    try:
        return path.stat().st_nlink == 1
    except FileNotFoundError:
        return False


_MISSING = b" missing\n"


@dataclass(frozen=True, slots=True)
class CommitPair:
    """A checkpoint's commit and its state commit; a base commit has none."""

    commit: CommitId
    state_commit: CommitId | None


@dataclass(frozen=True, slots=True)
class Additions:
    """A comparison of a new checkpoint with a complete commit that is under way."""

    store: PrivateStore
    new: CommitPair
    compared: tuple[RunningGit, ...]
    """Nothing without a known commit: then everything that the checkpoint needs is looked at."""

    def size(self) -> int | None:
        """Bytes on disk of what the checkpoint adds; None if any of it is missing."""
        outputs = [running.finish() for running in self.compared]
        if not outputs or any(output.code for output in outputs):
            return _all_bytes(self.store, self.new.commit)
        matches = (
            RAW_CHANGE.match(record) for output in outputs for record in output.records()[::2]
        )
        names = [m[2].decode() for m in matches if m and m[1] != GITLINK and m[2].strip(b"0")]
        tips = [tip for tip in (self.new.commit, self.new.state_commit) if tip]
        if not contents_are_sound(self.store, names):
            return None
        return _bytes_of(self.store, [*tips, *(f"{tip}^{{tree}}" for tip in tips), *names])


def start_additions(store: PrivateStore, new: CommitPair, known: CommitPair | None) -> Additions:
    """Begin to find out what a checkpoint adds to a complete commit."""
    if known is None:
        return Additions(store, new, ())
    compared = [_start_comparison(store, known.commit, new.commit)]
    if new.state_commit and new.state_commit != known.state_commit:
        compared.append(_start_comparison(store, known.state_commit, new.state_commit))
    return Additions(store, new, tuple(compared))


def _start_comparison(store: PrivateStore, old: CommitId | None, new: CommitId) -> RunningGit:
    known = old or empty_tree(len(new))
    return store.git().start(
        "diff-tree", "-r", "-t", "-z", "--raw", "--no-abbrev", "--no-renames", known, new
    )


def _bytes_of(store: PrivateStore, names: Sequence[str]) -> int | None:
    # Asking for the type makes git open the object, not only find its name.
    wanted = "--batch-check=%(objectsize:disk) %(objecttype)"
    output = store.git().run("cat-file", wanted, stdin=id_lines(names))
    lines = [line.split(b" ")[0] for line in output.stdout.splitlines()]
    broken = output.code or output.stderr or _MISSING in output.stdout
    return None if broken else sum(map(int, lines))


def _all_bytes(store: PrivateStore, commit: CommitId) -> int | None:
    output = store.git().run(*store.walking(), "--disk-usage", "--stdin", stdin=id_lines([commit]))
    return int(output.stdout) if output.code == 0 else None
