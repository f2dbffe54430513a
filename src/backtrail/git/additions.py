"""What a checkpoint adds to the store, and whether all of it is there.

`update-ref` checks only the object that it is given. A full walk costs as much as the tree is
large; here only what differs from an already complete tree is looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrail.domain.ids import CommitId
    from backtrail.git.runner import RunningGit
    from backtrail.git.store import PrivateStore

_RAW = re.compile(rb":\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) [A-Z]")
_GITLINK = b"160000"
_MISSING = b" missing"


@dataclass(frozen=True, slots=True)
class CommitPair:
    """A checkpoint's commit and its state commit; a base commit has none."""

    commit: CommitId
    state_commit: CommitId | None


def added_bytes(store: PrivateStore, new: CommitPair, known: CommitPair | None) -> int | None:
    """Bytes on disk of what a checkpoint adds to a complete commit; None if any is missing.

    Without a known commit, everything that the checkpoint needs is looked at.
    """
    names = _added_names(store, new, known) if known else None
    return _all_bytes(store, new.commit) if names is None else _bytes_of(store, names)


def _added_names(store: PrivateStore, new: CommitPair, known: CommitPair) -> list[str] | None:
    """The objects that the checkpoint has and the known commit lacks; None if unreadable."""
    tips = [new.commit]
    compared = [_start_comparison(store, known.commit, new.commit)]
    if new.state_commit and new.state_commit != known.state_commit:
        tips.append(new.state_commit)
        compared.append(_start_comparison(store, known.state_commit, new.state_commit))
    outputs = [running.finish() for running in compared]
    if any(output.code for output in outputs):
        return None
    matches = (_RAW.match(record) for output in outputs for record in output.records()[::2])
    names = [m[2].decode() for m in matches if m and m[1] != _GITLINK and m[2].strip(b"0")]
    return [*tips, *(f"{tip}^{{tree}}" for tip in tips), *names]


def _start_comparison(store: PrivateStore, old: CommitId | None, new: CommitId) -> RunningGit:
    known = old or store.empty_tree()
    return store.git().start(
        "diff-tree", "-r", "-t", "-z", "--raw", "--no-abbrev", "--no-renames", known, new
    )


def _bytes_of(store: PrivateStore, names: Sequence[str]) -> int | None:
    stdin = "".join(f"{name}\n" for name in names).encode()
    output = store.git().call("cat-file", "--batch-check=%(objectsize:disk)", stdin=stdin)
    lines = output.stdout.splitlines()
    return None if any(x.endswith(_MISSING) for x in lines) else sum(map(int, lines))


def _all_bytes(store: PrivateStore, commit: CommitId) -> int | None:
    output = store.git().run(
        "rev-list", "--objects", "--disk-usage", "--stdin", stdin=f"{commit}\n".encode()
    )
    return int(output.stdout) if output.code == 0 else None
