"""What a proof has seen, noted as an inventory: the next capture need not look at it all."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from backtrail.git.directory_notes import DirectoryNote, places_of_rules
from backtrail.git.hidden_rules import RULES_FILE
from backtrail.git.inventory_memo import InventoryMemo

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from backtrail.git.disk_walk import DiskWalk
    from backtrail.git.extras import Extras

_TOO_YOUNG_NS = 2_000_000_000


def proven_inventory(
    seen: DiskWalk,
    extras: Extras,
    files: set[bytes],
    directories: Iterable[bytes],
    now_ns: int,
) -> InventoryMemo:
    """The inventory of a sandbox whose captured files and directories have been proven."""
    captured = seen.files.keys() & files
    special = _by_directory(seen.special)
    notes = {
        os.fsdecode(path): DirectoryNote(
            mode=stat.S_IMODE(found.st_mode),
            ctime_ns=found.st_ctime_ns,
            read_at_ns=now_ns,
            special=tuple(special[path]),
            has_git=os.path.join(path, b".git") in seen.git,
            has_rules=os.path.join(path, RULES_FILE) in seen.files,
        )
        for path, found in ((d, seen.directories.get(d)) for d in directories)
        if found is not None
    }
    modes = {p: m for p, m in extras.file_modes.items() if os.fsencode(p) in captured}
    young_from = now_ns - _TOO_YOUNG_NS
    young = (path for path in captured if seen.files[path].st_ctime_ns > young_from)
    odd = (path for path in seen.with_set_bits if path in captured)
    return InventoryMemo(
        extras=replace(extras, file_modes=modes),
        set_bits=tuple(map(os.fsdecode, odd)),
        young=tuple(map(os.fsdecode, young)),
        directories=notes,
        hidden_rules=tuple(sorted(set(places_of_rules(notes)).difference(map(os.fsdecode, files)))),
    )


def _by_directory(paths: Iterable[bytes]) -> Mapping[bytes, list[str]]:
    found: defaultdict[bytes, list[str]] = defaultdict(list)
    for path in paths:
        directory, _, name = path.rpartition(b"/")
        found[directory].append(os.fsdecode(name))
    return found
