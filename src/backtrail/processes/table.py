"""The processes of this machine, as the kernel lists them; where it has no /proc, as ps does.

A pid is given to another process sooner or later. A name that stays true is the pid, the moment at
which the process began, and the boot (and the namespace of pids) in which both mean something.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

PROC = Path("/proc")
_ENDED = ("Z", "X")
_PS = ("ps", "-axo", "pid=,ppid=,pgid=,state=,lstart=,comm=")
_WORDS_OF_A_MOMENT = 5


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    group: int
    began: str
    """When it began, in a form that only serves to compare."""
    name: str
    zombie: bool = False

    def __str__(self) -> str:
        return f"{self.pid} ({self.name})"


def process_at(pid: int) -> Process | None:
    """The process that has a pid now."""
    if (PROC / "self" / "stat").exists():
        return _from_proc(pid)
    return by_ps().get(pid)


def all_processes() -> dict[int, Process]:
    """By pid; whatever ends while we look is left out."""
    if not (PROC / "self" / "stat").exists():
        return by_ps()
    found = (_from_proc(int(p.name)) for p in PROC.iterdir() if p.name.isdigit())
    return {process.pid: process for process in found if process}


def descendants(table: Mapping[int, Process], roots: Collection[int]) -> set[int]:
    """The roots that are in the table, and all that they started and that started from there."""
    children: dict[int, list[int]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    waiting = [root for root in roots if root in table]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting.extend(children.get(pid, ()))
    return found


def carrying(table: Mapping[int, Process], variable: str) -> Iterator[int]:
    """Those that were started with `NAME=value` in their environment, as far as it can be read."""
    wanted = variable.encode()
    for pid in table:
        try:
            given = (PROC / str(pid) / "environ").read_bytes()
        except OSError:
            continue
        if wanted in given.split(b"\0"):
            yield pid


def by_ps() -> dict[int, Process]:
    """The same by the portable way, which is slower and knows nothing of environments."""
    listed = subprocess.run(
        _PS, capture_output=True, text=True, errors="replace", check=False, env=_plain()
    )
    return {process.pid: process for process in map(_from_ps, listed.stdout.splitlines())}


def _plain() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


def _from_ps(line: str) -> Process:
    pid, parent, group, state, *rest = line.split()
    began, name = rest[:_WORDS_OF_A_MOMENT], rest[_WORDS_OF_A_MOMENT:]
    return Process(
        int(pid), int(parent), int(group), "-".join(began), " ".join(name), state[0] in _ENDED
    )


def _from_proc(pid: int) -> Process | None:
    try:
        raw = (PROC / str(pid) / "stat").read_bytes().decode(errors="replace")
    except OSError:
        return None
    # The name is in parentheses and may itself hold blanks and parentheses.
    name, _, rest = raw.partition("(")[2].rpartition(")")
    state, parent, group, *more = rest.split()
    return Process(pid, int(parent), int(group), more[16], name, state in _ENDED)


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
