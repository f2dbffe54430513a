"""Telling an interrupted restore from somebody's work: content neither of before nor of after."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.git.diff import differing_paths
from backtrail.git.index_entries import same_entries
from backtrail.git.trees import TreeEntry, blob_sizes, list_tree, read_blobs

if TYPE_CHECKING:
    from backtrail.domain.ids import TreeId
    from backtrail.git.gitstate import GitState
    from backtrail.git.state import SandboxState
    from backtrail.git.store import PrivateStore


# Of larger files one that was cut short counts as somebody's work: they do not go into memory.
_LARGEST_COMPARED = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class Strangers:
    """Paths whose content now is neither what it was before nor what it was to become."""

    foreign: tuple[str, ...]
    cut_short: tuple[str, ...]
    """Of these the content is the beginning of the goal's: a write that did not get to its end,
    or somebody's shortening of the file; the two cannot be told apart."""


def find_strangers(store: PrivateStore, now: TreeId, before: TreeId, goal: TreeId) -> Strangers:
    suspects = set(differing_paths(store, now, before)) & set(differing_paths(store, now, goal))
    cut = _cut_short(store, now, goal, suspects) if suspects else set[bytes]()
    return Strangers(_as_text(suspects - cut), _as_text(cut))


def _as_text(paths: set[bytes]) -> tuple[str, ...]:
    return tuple(os.fsdecode(path) for path in sorted(paths))


def _cut_short(store: PrivateStore, now: TreeId, goal: TreeId, suspects: set[bytes]) -> set[bytes]:
    present = _entries(store, now, suspects)
    wanted = _entries(store, goal, suspects)
    # Git gives a file its mode and kind when it creates it, before it writes the content.
    both = [p for p in sorted(present.keys() & wanted.keys()) if present[p].mode == wanted[p].mode]
    sizes = blob_sizes(store, [entries[p].object_id for entries in (present, wanted) for p in both])
    found = zip(both, sizes, sizes[len(both) :], strict=False)
    both = [path for path, size, whole in found if size <= whole <= _LARGEST_COMPARED]
    contents = read_blobs(store, [present[p].object_id for p in both])
    goals = read_blobs(store, [wanted[p].object_id for p in both])
    pairs = zip(both, contents, goals, strict=True)
    return {path for path, content, whole in pairs if whole.startswith(content)}


def _entries(store: PrivateStore, tree: TreeId, paths: set[bytes]) -> dict[bytes, TreeEntry]:
    return {e.path: e for e in list_tree(store, tree) if e.path in paths}


def foreign_git_state(
    store: PrivateStore, now: GitState, before: SandboxState, wanted: SandboxState
) -> list[str]:
    """What of HEAD, branch and index is neither as before nor as it was to become, in words."""
    old, new = before.git_state, wanted.git_state
    found: list[str] = []
    if now.head_ref not in (old.head_ref, new.head_ref, None) or now.head_commit not in (
        old.head_commit,
        new.head_commit,
    ):
        found.append("HEAD")
    if now.branch_commit not in (old.branch_commit, new.branch_commit):
        found.append(f"branch {now.branch}")
    if not any(same_entries(store, now.index, other.index) for other in (old, new)):
        found.append("the index")
    return found
