"""Capturing included ignored files (`include_ignored`) into a tree of their own."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.ids import TreeId
from backtrail.domain.plan import Sandbox
from backtrail.git.capture.conflicts import InTheWay, Replacing, refuse_unsaved
from backtrail.git.capture.storing import Storing, take_out
from backtrail.git.ignore.eligibility import NESTED, SET_BITS, SPECIAL, UNREADABLE, Sieve
from backtrail.git.ignore.included import IncludedFiles
from backtrail.git.osfiles.beneath import BEYOND_PERMISSIONS
from backtrail.git.osfiles.paths import exists_inside, lstat_inside
from backtrail.git.store.index import keep_index, note_backdated, read_backdated, working_index
from backtrail.git.store.objects import empty_tree, files_by_path
from backtrail.git.store.store import PrivateStore


def included_index(store: PrivateStore, sandbox: Sandbox) -> Path:
    """The private index of the included files, so that only what changed is hashed."""
    kept = store.layout.sandbox_index(sandbox.sandbox_id)
    return kept.with_name(f"{kept.name}.included")


@dataclass(frozen=True, slots=True)
class IncludedCapture:
    """Included ignored files that were captured, and those that were not."""

    tree: TreeId | None
    files: tuple[bytes, ...]
    """All in the tree."""
    absent: tuple[str, ...]
    """Paths that were looked for by name and were not there."""
    left_out: tuple[NotCaptured, ...]


def capture_included(
    store: PrivateStore,
    sandbox: Sandbox,
    found: IncludedFiles,
    replacing: Replacing,
    in_the_way: InTheWay,
    max_file_size: int,
    *,
    keep: bool,
) -> IncludedCapture:
    """Capture the files that were found, and those that are about to be replaced.

    With `keep` their private index is brought up to date, for which the caller holds the lock.
    """
    root = sandbox.path
    looked_for = (*replacing.included, *replacing.going)
    demanded = [path for path in looked_for if exists_inside(root, path)]
    demanded += in_the_way.included
    tree, left_out = _tree_of(store, sandbox, found.files, demanded, max_file_size, keep=keep)
    left_out += (NotCaptured(os.fsdecode(d), UNREADABLE) for d in found.unreadable)
    left_out += (note for note in found.too_large if os.fsencode(note.path) not in demanded)
    refuse_unsaved({os.fsencode(note.path): note for note in left_out}, demanded)
    absent = tuple(os.fsdecode(path) for path in looked_for if not exists_inside(root, path))
    held = tuple(files_by_path(store, tree))
    return IncludedCapture(tree, held, absent, (*left_out, *_beyond_capture(root, held, found)))


def _beyond_capture(root: Path, held: Sequence[bytes], found: IncludedFiles) -> list[NotCaptured]:
    """What of the included files no checkpoint can hold."""
    modes = ((path, lstat_inside(root, path)) for path in held)
    set_bits = (path for path, info in modes if info and info.st_mode & BEYOND_PERMISSIONS)
    return [
        *(NotCaptured(os.fsdecode(path), SPECIAL) for path in found.special),
        *(NotCaptured(os.fsdecode(path + b"/.git"), NESTED) for path in found.repositories),
        *(NotCaptured(os.fsdecode(path), SET_BITS) for path in set_bits),
    ]


def _tree_of(
    store: PrivateStore,
    sandbox: Sandbox,
    files: Sequence[bytes],
    demanded: Sequence[bytes],
    max_file_size: int,
    *,
    keep: bool,
) -> tuple[TreeId | None, list[NotCaptured]]:
    """The files as a tree; demanded ones whatever their size."""
    began, root, kept = time.time_ns(), sandbox.path, included_index(store, sandbox)
    wanted = dict.fromkeys(p for p in (*files, *demanded) if exists_inside(root, p))
    if not wanted:
        return None, []
    sieve = Sieve(root, max_file_size, set(demanded).intersection)
    with working_index(store, kept) as index:
        git = store.git(root, index)
        known = git.call("ls-files", "-c", "-z").records() if index.exists() else []
        doubtful = {*read_backdated(kept), *(p for p in known if p not in wanted)}
        read_anew = [path for path in known if path in doubtful]
        if read_anew:
            take_out(git, read_anew)
        storing = Storing(git, sieve, set(known))
        storing.store(wanted)
        tree = TreeId(git.call("write-tree").text)
        if keep:
            # Before the index, as with the private index of all other files.
            note_backdated(kept, root, storing.stored, began_ns=began)
            keep_index(index, kept, began_ns=began)
    held = None if tree == empty_tree(len(tree)) else tree
    return held, list(storing.left_out.values())
