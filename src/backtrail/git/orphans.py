"""Gits that outlive the process that started them, and keep its locks.

Git inherits our locks, so that nobody comes between while it still writes. If whoever started it
was killed, it mostly ends soon; one that waits for something would keep the lock for ever.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROC = Path("/proc")


def end_orphans(lock: int, number: signal.Signals) -> None:
    """Ask gits that alone hold the lock of this open file to end.

    Where any holder was started by somebody who does not hold it and is no git, that one is at
    work. Only Linux tells who holds a lock.
    """
    holders = dict(_holders(lock))
    if not all(_began_with_git(pid, holders) for pid in holders):
        return
    for pid in holders:
        # Git leads a process group of its own, in which its filters are.
        with suppress(ProcessLookupError, PermissionError):
            if os.getpgid(pid) == pid:
                os.killpg(pid, number)


def _began_with_git(pid: int, holders: dict[int, tuple[int, str]]) -> bool:
    """Whether the first of the holders above (and with) a process is a git."""
    seen: set[int] = set()
    while holders[pid][0] in holders and pid not in seen:
        seen.add(pid)
        pid = holders[pid][0]
    return holders[pid][1] == "git" or holders[pid][1].startswith("git-")


def _holders(lock: int) -> Iterator[tuple[int, tuple[int, str]]]:
    """The processes that hold a lock, each with its parent and the name of its program."""
    file = os.fstat(lock)
    for place in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            if any(_holds(place, descriptor, file) for descriptor in os.listdir(place / "fd")):
                parent = int((place / "stat").read_bytes().rpartition(b")")[2].split()[1])
                yield int(place.name), (parent, (place / "exe").readlink().name)


def _holds(process: Path, descriptor: str, file: os.stat_result) -> bool:
    with suppress(OSError):
        if os.path.samestat((process / "fd" / descriptor).stat(), file):
            return b"FLOCK" in (process / "fdinfo" / descriptor).read_bytes()
    return False
