"""Files too large for the memory that may be used, and how much of it really was used."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from support.world.examples import thorough

if TYPE_CHECKING:
    from collections.abc import Callable

_MIB = 1024**2
SIZE = (2048 if thorough() else 64) * _MIB
"""Most of it is a hole: it costs time to read, and nearly no disk."""
ALLOWED = 32 * _MIB
"""How much more memory a command may use than a process that does nothing."""
_NOISE = 512 * 1024
_EVERY = 0.002


def make_large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(SIZE)
        file.seek(SIZE // 3)
        # What cannot be compressed: else a small object would stand for the large file.
        file.write(os.urandom(_NOISE))


def change_middle(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(SIZE // 2)
        file.write(b"x")


def fingerprint(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def memory_of(action: Callable[[], object]) -> int:
    """The most bytes that an action needs: itself, beyond what a fork has anyway, or a git of its.

    The kernel counts the memory of whoever started it as a git's own, so those are asked directly.
    """
    own, gits = _watched(action)
    idle, _ = _watched(lambda: None)
    return max(own - idle, gits)


def _watched(action: Callable[[], object]) -> tuple[int, int]:
    """The peak of an action in a fork, and that of the git processes below it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            action()
            code = 0
        finally:
            if code:
                traceback.print_exc(file=sys.__stderr__)
            os._exit(code)
    gits = 0
    while True:
        gits = max([gits, *map(_peak_of_git, _children(child))])
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0, "the command failed, see above"
            return usage.ru_maxrss * 1024, gits
        time.sleep(_EVERY)


def _children(process: int) -> list[str]:
    found = Path(f"/proc/{process}/task/{process}/children")
    return found.read_text().split() if found.exists() else []


def _peak_of_git(process: str) -> int:
    try:
        told = Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    # Before it becomes git a child shares the memory of whoever starts it.
    peak = re.search(r"^VmHWM:\s+(\d+) kB", told, re.MULTILINE) if "Name:\tgit\n" in told else None
    return int(peak[1]) * 1024 if peak else 0
