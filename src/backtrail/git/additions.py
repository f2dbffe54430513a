"""What a checkpoint adds to the store, and whether all of it is there.

`update-ref` checks only the object that it is given. A full walk costs as much as the tree is
large; here only what differs from an already complete tree is looked at.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backtrail.domain.ids import CommitId
    from backtrail.git.commits import WrittenCheckpoint
    from backtrail.git.store import PrivateStore

_RAW = re.compile(rb":\d+ (\d+) [0-9a-f]+ ([0-9a-f]+) [A-Z]")
_GITLINK = b"160000"
_MISSING = b" missing"


def added_bytes(
    store: PrivateStore, written: WrittenCheckpoint, known: CommitId | None
) -> int | None:
    """Bytes on disk of what a checkpoint adds to a complete commit; None if any is missing.

    Without a known commit, everything that the checkpoint needs is looked at.
    """
    names = _added_names(store, written, known) if known else None
    return _all_bytes(store, written.commit) if names is None else _bytes_of(store, names)


def _added_names(
    store: PrivateStore, written: WrittenCheckpoint, known: CommitId
) -> list[str] | None:
    """The objects that the checkpoint has and the known commit lacks; None if unreadable."""
    git = store.git()
    trees = git.start(
        "diff-tree", "-r", "-t", "-z", "--raw", "--no-abbrev", "--no-renames", known, written.commit
    )
    state = git.run("ls-tree", "-r", "-t", "-z", written.state_commit)
    differing = trees.finish()
    if differing.code or state.code:
        return None
    names = [record.split(b"\t")[0].split(b" ")[2] for record in state.records()]
    matches = filter(None, map(_RAW.match, differing.records()[::2]))
    names += (m[2] for m in matches if m[1] != _GITLINK and m[2].strip(b"0"))
    tips = [written.commit, written.state_commit]
    return [*tips, *(f"{tip}^{{tree}}" for tip in tips), *(name.decode() for name in names)]


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
