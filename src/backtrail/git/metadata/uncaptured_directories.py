"""Directories that hold nothing captured: which of them are empty, and what else is in them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backtrail.git.ignore.rules import RULES_FILE
from backtrail.git.osfiles.paths import is_special
from backtrail.git.osfiles.walk import walk

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(slots=True)
class BareDirectories:
    """What was found in directories without captured files."""

    empty: list[bytes] = field(default_factory=list[bytes])
    """Directories with no entry at all; git itself says of these that no rule ignores them."""
    deeper: list[bytes] = field(default_factory=list[bytes])
    """The same, found below such a directory: the ignore rules have still to be asked."""
    special: list[bytes] = field(default_factory=list[bytes])
    repositories: list[bytes] = field(default_factory=list[bytes])
    rules_files: list[bytes] = field(default_factory=list[bytes])
    """The .gitignore files in them: each hides itself, or is hidden by one further up."""


def survey(root: Path, directories: Sequence[bytes]) -> BareDirectories:
    """Read the directories to the bottom: their files, if they have any, are ignored ones."""
    found = BareDirectories()
    for directory in directories:
        for place, entries in walk(root, directory):
            if not entries:
                (found.empty if place == directory else found.deeper).append(place)
            _note(found, place, entries)
    return found


def _note(found: BareDirectories, place: bytes, entries: Sequence[os.DirEntry[bytes]]) -> None:
    for entry in entries:
        path = os.path.join(place, entry.name)
        if entry.name == b".git":
            found.repositories.append(place)
        elif is_special(entry):
            found.special.append(path)
        elif entry.name == RULES_FILE:
            found.rules_files.append(path)
