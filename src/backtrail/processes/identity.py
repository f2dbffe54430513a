"""Names for processes that stay true: a pid is given to another process sooner or later.

A name is the pid, the moment at which the process began, and the boot (and the namespace of pids)
in which both mean something.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

from backtrail.processes.table import process_at


def identity_of(pid: int) -> str:
    """The name of a process that is running now."""
    found = process_at(pid)
    return f"{pid} {found.began if found else '-'} {this_boot()}"


def pid_of(identity: str) -> int:
    return int(identity.split(" ", 1)[0])


def same_boot(identity: str) -> bool:
    """Whether pids of that name's machine are ours to look up."""
    return identity.split(" ", 2)[2] == this_boot()


def alive(identity: str) -> bool:
    """Whether that very process still runs; only of this boot can that be told."""
    pid, began, _ = identity.split(" ", 2)
    found = process_at(int(pid))
    return found is not None and not found.zombie and found.began == began


@cache
def this_boot() -> str:
    """What tells this boot, and this container, from all others."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        asked = ["sysctl", "-n", "kern.boottime"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False)
        return said.stdout.strip() or "unknown"
