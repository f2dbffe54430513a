"""The chosen ignored files of a state: a tree of their own, so that secrets are in no diff."""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backtrail.domain.capture import Choice
from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import TreeId
from backtrail.git.backdated import note_backdated, read_backdated
from backtrail.git.ignore import scratch_directory
from backtrail.git.paths import exists_inside, parents_of
from backtrail.git.private_index import keep_index, working_index
from backtrail.git.storable import Sieve
from backtrail.git.storing import Storing, take_out
from backtrail.git.switching import changed_meanwhile, switch_index
from backtrail.git.trees import empty_tree, list_tree, tree_changes
from backtrail.git.writer import checked_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from backtrail.domain.checkpoint import NotCaptured
    from backtrail.domain.plan import Sandbox
    from backtrail.git.runner import GitRunner
    from backtrail.git.store import PrivateStore
    from backtrail.git.trees import TreeEntry
    from backtrail.git.writer import Look, Writer


@dataclass(frozen=True, slots=True)
class Included:
    """Chosen ignored files of a state."""

    tree: TreeId | None = None
    choice: Choice = field(default_factory=Choice)
    """By what they were chosen."""
    absent: tuple[str, ...] = ()
    """Paths that were looked for by name and were not there."""


def entries_of(store: PrivateStore, tree: TreeId | None) -> dict[bytes, tuple[bytes, str]]:
    if tree is None:
        return {}
    return {e.path: (e.mode, e.object_id) for e in list_tree(store, tree)}


