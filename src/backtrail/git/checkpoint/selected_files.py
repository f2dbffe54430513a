"""The chosen ignored files of a state: a tree of their own, so that secrets are in no diff."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backtrail.domain.capture import Choice
from backtrail.domain.ids import TreeId
from backtrail.git.store.objects import list_tree

if TYPE_CHECKING:
    from backtrail.git.store.store import PrivateStore


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
