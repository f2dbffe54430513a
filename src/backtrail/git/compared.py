"""What git found in comparing an index with the disk, as far as it could look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.git.complaints import understood_of_entries

if TYPE_CHECKING:
    from backtrail.git.runner import RunningGit


def changes_in(comparison: RunningGit) -> tuple[list[bytes], list[bytes]]:
    """Paths that have changed and paths that are gone.

    What cannot even be looked at counts as changed: whoever captures it will find out and say so.
    """
    compared, complaints = understood_of_entries(comparison.finish())
    changed: list[bytes] = list(complaints.entries)
    deleted: list[bytes] = []
    records = compared.checked().records()
    for status, path in zip(records[::2], records[1::2], strict=True):
        (deleted if status == b"D" else changed).append(path)
    return changed, deleted
