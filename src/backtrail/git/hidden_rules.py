"""The .gitignore files that are themselves ignored: in no tree, and yet they decide what stays."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from backtrail.git.paths import first_obstacle

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

RULES_FILE = b".gitignore"


def is_rules_file(path: bytes) -> bool:
    return path.endswith(RULES_FILE) and path.split(b"/")[-1] == RULES_FILE


def read_rules_files(root: Path, paths: Iterable[bytes]) -> dict[str, bytes]:
    """What these files say, as far as git would listen: links and special files say nothing."""
    found = ((os.fsdecode(path), _text(root, path)) for path in paths)
    return {path: text for path, text in sorted(found) if text}


def _text(root: Path, path: bytes) -> bytes:
    try:
        if first_obstacle(root, path) is not None:
            return b""
        # A FIFO in the place of the file would block a plain reading for ever.
        with open(os.path.join(os.fsencode(root), path), "rb", opener=_open_at_once) as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)
