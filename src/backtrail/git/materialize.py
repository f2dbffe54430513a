"""A checkpoint's files written into an empty directory: bytes, modes, links, empty directories."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.git.beneath import Beneath
from backtrail.git.ignore import scratch_directory
from backtrail.git.restore_extras import (
    ExtrasPlan,
    apply_modes,
    directories_of,
    make_bare_directories,
)
from backtrail.git.trees import list_tree

if TYPE_CHECKING:
    from pathlib import Path

    from backtrail.git.capture import Captured
    from backtrail.git.store import PrivateStore


def materialize(store: PrivateStore, captured: Captured, root: Path, *, ignored: bool) -> int:
    """Write a captured state below a directory; gives the number of files and links."""
    included = captured.state.included.tree
    # Of a directory with ignored files alone nothing is written, so it would be an empty one.
    extras = replace(captured.state.extras, standing={})
    trees = [captured.tree, *([included] if ignored and included else [])]
    entries = [entry for tree in trees for entry in list_tree(store, tree)]
    with scratch_directory(store) as directory:
        for number, tree in enumerate(trees):
            git = store.git(root, directory / f"index{number}")
            git.call("read-tree", tree)
            git.call("checkout-index", "--all")
    plan = ExtrasPlan(
        files=tuple(entry for entry in entries if entry.is_file),
        directories=tuple(sorted(directories_of([entry.path for entry in entries], extras))),
        changed=(),
        appearing=(),
        vanishing=(),
        staying={},
    )
    with Beneath(root) as inside:
        make_bare_directories(inside, extras)
        apply_modes(inside, extras, plan)
    return len(entries)
