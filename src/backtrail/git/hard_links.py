"""Files that have another name elsewhere: permission bits belong to all names of a file at once.

To change those of one name would change a file outside the sandbox, or another one in it. A file
that is to have other bits than it has becomes one of its own first, with the same content.
"""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from backtrail.git.extras import PERMISSIONS
from backtrail.git.ignore import scratch_directory
from backtrail.git.included_capture import take_in
from backtrail.git.switching import changed_meanwhile
from backtrail.git.trees import Change
from backtrail.git.writer import checked_out

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from backtrail.git.store import PrivateStore
    from backtrail.git.trees import TreeEntry
    from backtrail.git.writer import Writer


def part_hard_links(
    store: PrivateStore,
    root: Path,
    writer: Writer,
    files: Iterable[TreeEntry],
    mode_of: Callable[[TreeEntry], int],
) -> None:
    """Write those of the files anew that have other names, too, and not the goal's mode."""
    look = writer.look(entry.path for entry in files if entry.path not in writer.placed)
    shared = [e for e in files if _is_shared(look.found.get(e.path), mode_of(e))]
    if not shared:
        return
    with scratch_directory(store) as scratch:
        index = scratch / "index"
        git = store.git(root, index)
        take_in(git, root, [entry.path for entry in shared])
        lines = [b"%s %s 0\t%s" % entry for entry in shared]
        found = set(git.call("ls-files", "-s", "-z").records())
        changed = [e.path for e, line in zip(shared, lines, strict=True) if line not in found]
        if changed:
            raise changed_meanwhile(changed)
        changes = [Change(entry.path, entry, entry) for entry in shared]
        writer.change(changes, look, checked_out(store, index), mode_of, lambda emptied: emptied)


def _is_shared(found: os.stat_result | None, wanted: int) -> bool:
    if found is None or not stat.S_ISREG(found.st_mode) or found.st_nlink == 1:
        return False
    return found.st_mode & PERMISSIONS != wanted
