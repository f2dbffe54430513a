"""Whether objects that were not written by us hold what their names say.

Git does not write an object that it finds in the store, and the store holds links to the user's
objects. One that is damaged there would pass for content until somebody needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backtrail.git.store import PrivateStore


def contents_are_sound(store: PrivateStore, object_ids: Sequence[str]) -> bool:
    """Let git read those of the objects that are not loose files of our own.

    A loose one that is damaged is removed (the user's own name for it stays), so that the next
    snapshot writes it anew.
    """
    doubtful = [i for i in dict.fromkeys(object_ids) if not _is_ours(_loose(store, i))]
    if not doubtful:
        return True
    stdin = "".join(f"{object_id}\n" for object_id in doubtful).encode()
    read = store.git().run(
        "rev-list", "--verify-objects", "--no-walk=unsorted", "--quiet", "--stdin", stdin=stdin
    )
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
