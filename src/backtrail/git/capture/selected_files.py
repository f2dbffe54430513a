"""Capturing chosen ignored files (`include_ignored`) into a tree of their own."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import TreeId
from backtrail.git.capture.storing import Storing, take_out
from backtrail.git.ignore.eligibility import Sieve
from backtrail.git.osfiles.paths import exists_inside
from backtrail.git.store.index import keep_index, note_backdated, read_backdated, working_index
from backtrail.git.store.objects import empty_tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backtrail.domain.checkpoint import NotCaptured
    from backtrail.domain.plan import Sandbox
    from backtrail.git.process.runner import GitRunner
    from backtrail.git.store.store import PrivateStore


def kept_index(store: PrivateStore, sandbox: Sandbox) -> Path:
    """The private index of the chosen files, so that only what changed is hashed."""
    kept = store.layout.sandbox_index(sandbox.sandbox_id)
    return kept.with_name(f"{kept.name}.included")


@dataclass(frozen=True, slots=True)
class IncludedCamera:
    """Captures the chosen ignored files of one sandbox."""

    store: PrivateStore
    sandbox: Sandbox

    def capture(
        self, chosen: Sequence[bytes], demanded: Sequence[bytes], max_file_size: int, *, keep: bool
    ) -> tuple[TreeId | None, list[NotCaptured]]:
        """The chosen files as a tree; demanded ones whatever their size.

        With `keep` the private index is brought up to date, for which the caller holds the lock.
        """
        began, root = time.time_ns(), self.sandbox.path
        kept = kept_index(self.store, self.sandbox)
        wanted = dict.fromkeys(p for p in (*chosen, *demanded) if exists_inside(root, p))
        if not wanted:
            return None, []
        sieve = Sieve(root, max_file_size, set(demanded).intersection)
        with working_index(self.store, kept) as index:
            git = self.store.git(root, index)
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


def take_in(git: GitRunner, root: Path, paths: Sequence[bytes]) -> None:
    """Fill an index with those of the paths that are there, all of which have to hold still."""
    storing = Storing(git, Sieve(root, None, lambda _: set()), set())
    storing.store(path for path in paths if exists_inside(root, path))
    for note in storing.left_out.values():
        raise GitFailedError(f"{note.path!r} cannot be read: {note.reason}")
