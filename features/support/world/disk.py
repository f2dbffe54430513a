"""An independent look at a directory: what is there, without asking git or Backtrail."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Walk = dict[bytes, tuple[str, int, bytes]]


def walk(root: Path, *, directories: bool = False) -> Walk:
    """Every file and link below the root but .git: kind, permission bits, content."""
    found: Walk = {}
    base = os.fsencode(root)
    for directory, names, files in os.walk(base):
        names[:] = [name for name in names if name != b".git"]
        for name in [*files, *names]:
            path = os.path.join(directory, name)
            relative = os.path.relpath(path, base)
            entry = entry_at(path)
            if relative != b".git" and (directories or entry[0] != "directory"):
                found[relative] = entry
    return found


def entry_at(path: bytes | Path) -> tuple[str, int, bytes]:
    info = os.lstat(path)
    if stat.S_ISLNK(info.st_mode):
        return "link", 0, os.readlink(os.fsencode(path))
    if stat.S_ISREG(info.st_mode):
        with open(path, "rb") as file:
            return "file", stat.S_IMODE(info.st_mode), file.read()
    if stat.S_ISDIR(info.st_mode):
        return "directory", stat.S_IMODE(info.st_mode), b""
    return "special", 0, b""
