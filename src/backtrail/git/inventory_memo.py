"""What the last inventory of a sandbox found, kept beside its private index.

It only ever saves time: without one, every captured path is looked at again. It is written before
the index that it goes with, so that after a crash it knows of more changes, never of fewer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.git.checked_file import read_checked, write_checked
from backtrail.git.directory_notes import DirectoryNote
from backtrail.git.extras import Extras

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class InventoryMemo:
    """An inventory, with what must not be believed the next time."""

    extras: Extras
    set_bits: tuple[str, ...]
    """Files and directories with bits that are not captured."""
    young: tuple[str, ...]
    """Files whose mode may change again without a change that git can see."""
    directories: dict[str, DirectoryNote]
    hidden_rules: tuple[str, ...] = ()
    """The .gitignore files beside captured files that are not captured themselves."""

    def write(self, path: Path) -> None:
        document = {
            "extras": self.extras.as_document(),
            "set_bits": self.set_bits,
            "young": self.young,
            "directories": {
                name: (
                    note.mode,
                    note.ctime_ns,
                    note.read_at_ns,
                    note.special,
                    note.has_git,
                    note.has_rules,
                )
                for name, note in self.directories.items()
            },
            "hidden_rules": self.hidden_rules,
        }
        write_checked(path, json.dumps(document).encode())


def read_inventory_memo(path: Path) -> InventoryMemo | None:
    try:
        document = json.loads(read_checked(path) or b"")
        return InventoryMemo(
            extras=Extras.from_document(document["extras"]),
            set_bits=tuple(document["set_bits"]),
            young=tuple(document["young"]),
            directories={
                name: DirectoryNote(mode, ctime_ns, read_at_ns, tuple(special), *has)
                for name, (mode, ctime_ns, read_at_ns, special, *has) in document[
                    "directories"
                ].items()
            },
            hidden_rules=tuple(document["hidden_rules"]),
        )
    except (ValueError, TypeError, KeyError):
        # Lost, damaged, or of another version: everything is looked at anew.
        return None
