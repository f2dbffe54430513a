"""Telling an interrupted restore from somebody's work: neither what was before nor the goal."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backtrail.domain.ids import TreeId
from backtrail.git.checkpoint.state import Captured, SandboxState
from backtrail.git.compare.diff import differing_paths
from backtrail.git.metadata.model import Extras
from backtrail.git.restore.git_state import being_detached
from backtrail.git.restore.goal import Goal
from backtrail.git.restore.metadata import directories_of
from backtrail.git.store.objects import TreeEntry, blob_sizes, empty_tree, list_tree, read_blobs
from backtrail.git.store.store import PrivateStore
from backtrail.git.user.head import GitState
from backtrail.git.user.index import same_entries
from backtrail.git.user.merge_state import foreign_to

# Of larger files one that was cut short counts as somebody's work: they do not go into memory.
_LARGEST_COMPARED = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class ConcurrentEdits:
    """Paths whose content now is neither what it was before nor what it was to become."""

    foreign: tuple[str, ...]
    cut_short: tuple[str, ...]
    """Of these the content is the beginning of the goal's, or they are gone: a write that did not
    get to its end, or somebody's shortening or removal of the file; the two cannot be told apart.
    Nothing is lost by writing them: what is there is in the goal, too."""


def find_concurrent_edits(
    store: PrivateStore, now: Captured, before: Captured, goal: Goal
) -> ConcurrentEdits:
    """What is in neither state, among the chosen ignored files and among all others.

    A path can be among the ones in one state and among the others in the next one.
    """
    nothing = empty_tree(store.id_length())
    files = (now.tree, before.tree, goal.tree)
    included = (now.state.included, before.state.included, goal.included)
    chosen = tuple(state.tree or nothing for state in included)
    foreign, cut = set[bytes](), set[bytes]()
    for (present, old, new), others in ((files, chosen), (chosen, files)):
        suspects = {*differing_paths(store, present, old)} & {*differing_paths(store, present, new)}
        suspects -= _explained(store, present, others, suspects)
        goals = (new, others[-1])
        short = set[bytes]()
        if suspects:
            # What has to be written anew git unlinks first. What is the same in both states it
            # leaves alone: if that is gone, somebody else has removed it.
            rewritten = suspects.intersection(differing_paths(store, old, new))
            short = rewritten - _entries(store, present, rewritten).keys()
            short |= _cut_short(store, present, goals, suspects - short)
        foreign |= suspects - short
        cut |= short
    return ConcurrentEdits(_as_text(foreign), _as_text(cut))


def _explained(
    store: PrivateStore, present: TreeId, others: Sequence[TreeId], suspects: set[bytes]
) -> set[bytes]:
    """Those of the suspects that are what the other kind of tree has there, before or after."""
    if not suspects:
        return set()
    found = _entries(store, present, suspects)
    there, *known = (_entries(store, tree, suspects) for tree in others)
    moved = {path for path in there if path not in found}
    return moved | {p for p, entry in found.items() if any(k.get(p) == entry for k in known)}


def _as_text(paths: set[bytes]) -> tuple[str, ...]:
    return tuple(os.fsdecode(path) for path in sorted(paths))


def _cut_short(
    store: PrivateStore, now: TreeId, goals: Sequence[TreeId], suspects: set[bytes]
) -> set[bytes]:
    present = _entries(store, now, suspects)
    # No path is in the tree of files and among the chosen ones of the same goal.
    wanted = {p: entry for goal in goals for p, entry in _entries(store, goal, suspects).items()}
    # Git gives a file its mode and kind when it creates it, before it writes the content.
    both = [p for p in sorted(present.keys() & wanted.keys()) if present[p].mode == wanted[p].mode]
    sizes = blob_sizes(store, [entries[p].object_id for entries in (present, wanted) for p in both])
    found = zip(both, sizes, sizes[len(both) :], strict=False)
    both = [path for path, size, whole in found if size <= whole <= _LARGEST_COMPARED]
    contents = read_blobs(store, [present[p].object_id for p in both])
    whole_contents = read_blobs(store, [wanted[p].object_id for p in both])
    pairs = zip(both, contents, whole_contents, strict=True)
    return {path for path, content, whole in pairs if whole.startswith(content)}


def _entries(store: PrivateStore, tree: TreeId, paths: set[bytes]) -> dict[bytes, TreeEntry]:
    return {e.path: e for e in list_tree(store, tree) if e.path in paths}


def foreign_git_state(
    store: PrivateStore, now: GitState, before: SandboxState, wanted: SandboxState
) -> list[str]:
    """What of HEAD, branches, index and what is under way was neither so before nor asked for."""
    old, new = before.git_state, wanted.git_state
    then, goal = old.refs, new.refs
    found: list[str] = []
    heads = (old.head_commit, new.head_commit, then.get(now.head_ref), goal.get(now.head_ref))
    known_head = now.head_ref in (old.head_ref, new.head_ref, None) and now.head_commit in heads
    if not known_head and not being_detached(now, old, new):
        found.append("HEAD")
    found += (
        f"branch {ref.removeprefix('refs/heads/')}"
        for ref, commit in now.own_refs
        if commit not in (then.get(ref), goal.get(ref))
    )
    if not any(same_entries(store, now.index, other.index) for other in (old, new)):
        found.append("the index")
    return [*found, *foreign_to(now.merge, old.merge, new.merge)]


# What a file that git has just written may have, whatever the umask is.
_UMASKS = (0o000, 0o002, 0o007, 0o022, 0o027, 0o077)
_AS_WRITTEN = {mode & ~umask for mode in (0o666, 0o777) for umask in _UMASKS}


def foreign_extras(store: PrivateStore, now: Captured, before: Captured, goal: Goal) -> list[str]:
    """Files with a mode, and empty directories, that neither state has nor a restore makes."""
    entries = list_tree(store, now.tree)
    found = [
        os.fsdecode(entry.path)
        for entry in entries
        if entry.is_file and _has_foreign_mode(entry, now, before, goal)
    ]
    known = _directories(store, (before.tree, before.state.included.tree), before.state.extras)
    known |= _directories(store, (goal.tree, goal.included.tree), goal.extras)
    empty = now.state.extras.empty_directories
    return found + [f"{path}/" for path in empty if os.fsencode(path) not in known]


def _directories(store: PrivateStore, trees: Iterable[TreeId | None], extras: Extras) -> set[bytes]:
    files = (entry.path for tree in trees if tree for entry in list_tree(store, tree))
    return directories_of(files, extras)


def _has_foreign_mode(entry: TreeEntry, now: Captured, before: Captured, goal: Goal) -> bool:
    name, mode = os.fsdecode(entry.path), entry.mode_bits
    expected = {e.file_mode(name, mode) for e in (before.state.extras, goal.extras)}
    return now.state.extras.file_mode(name, mode) not in expected | _AS_WRITTEN
