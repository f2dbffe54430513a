"""What differs between two states of a sandbox, in the words of a diff."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from backtrail.git.diff import changed_files
from backtrail.git.extras_diff import changed_extras
from backtrail.git.included_diff import changed_included

if TYPE_CHECKING:
    from backtrail.domain.rollback import FileChange
    from backtrail.git.capture import Captured, Glimpse
    from backtrail.git.store import PrivateStore


def changes_between(
    store: PrivateStore, old: Captured | Glimpse, new: Captured | Glimpse
) -> tuple[FileChange, ...]:
    """Files that differ in content, kind or mode, and empty directories that came or went."""
    files = changed_files(store, old.tree, new.tree)
    extras = changed_extras(store, old.state.extras, new.state.extras, new.tree, files)
    told = {change.file for change in files}
    chosen = (c for c in changed_included(store, old.state, new.state) if c.file not in told)
    return tuple(sorted((*files, *extras, *chosen), key=attrgetter("file")))
