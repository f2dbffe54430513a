"""The .gitignore files that are themselves ignored: in no tree, and yet they decide what stays."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from backtrail.git.beneath import Beneath

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

RULES_FILE = b".gitignore"


def is_rules_file(path: bytes) -> bool:
    return path.endswith(RULES_FILE) and path.split(b"/")[-1] == RULES_FILE


def read_rules_files(root: Path, paths: Iterable[bytes]) -> dict[str, bytes]:
    """What these files say, as far as git would listen: links and special files say nothing."""
    with Beneath(root) as inside:
        found = [(os.fsdecode(path), _text(inside, path)) for path in sorted(paths)]
    return {path: text for path, text in found if text}


def _text(inside: Beneath, path: bytes) -> bytes:
    try:
        directory, name = inside.above(path)
        # A FIFO in the place of the file would block a plain reading for ever.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW
        with open(os.open(name, flags, dir_fd=directory), "rb") as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""
