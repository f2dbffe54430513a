"""Files that have another name elsewhere: permission bits belong to all names of a file at once.

To change those of one name would change a file outside the sandbox, or another one in it. A file
that is to have other bits than it has becomes one of its own first, with the same content.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from backtrail.git.extras import PERMISSIONS
from backtrail.git.ignore import scratch_directory
from backtrail.git.included import take_in
from backtrail.git.paths import lstat_inside
from backtrail.git.runner import nul_joined
from backtrail.git.switching import changed_meanwhile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backtrail.git.extras import Extras
    from backtrail.git.store import PrivateStore
    from backtrail.git.trees import TreeEntry


def part_hard_links(
    store: PrivateStore, root: Path, files: Iterable[TreeEntry], goal: Extras
) -> None:
    """Write those of the files anew that have other names, too, and not the goal's mode."""
    shared = [entry for entry in files if _is_shared(root, entry, goal)]
    if not shared:
        return
    with scratch_directory(store) as scratch:
        git = store.git(root, scratch / "index")
        take_in(git, root, [entry.path for entry in shared])
        lines = [b"%s %s 0\t%s" % entry for entry in shared]
        found = set(git.call("ls-files", "-s", "-z").records())
        changed = [e.path for e, line in zip(shared, lines, strict=True) if line not in found]
        if changed:
            raise changed_meanwhile(changed)
        # Entries without dates: git takes the files for other ones, unlinks and writes them.
        git.call("update-index", "-z", "--index-info", stdin=nul_joined(lines))
        paths = nul_joined([entry.path for entry in shared])
        git.call("checkout-index", "--force", "-z", "--stdin", stdin=paths)


def _is_shared(root: Path, entry: TreeEntry, goal: Extras) -> bool:
    found = lstat_inside(root, entry.path)
    if found is None or not stat.S_ISREG(found.st_mode) or found.st_nlink == 1:
        return False
    wanted = goal.file_mode(os.fsdecode(entry.path), entry.mode_bits)
    return found.st_mode & PERMISSIONS != wanted
