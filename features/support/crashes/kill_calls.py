"""Killing the program just before it changes a name in a directory, at one change after the other.

Python tells a process of its own calls before it makes them, so that strace is not needed; what
git does is left out, and so is Backtrail's own home, which has features of its own.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING

from support.crashes.crashes import KILLED, Crash, Frozen
from support.program.forked import run_forked
from support.sandbox.lives import IN_PLACE
from support.world import audit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.world.world import World

_CHANGES = ("os.rename", "os.link", "os.mkdir", "os.rmdir", "os.remove")
_PATIENCE = 200
_NOT_BEGUN = (IN_PLACE, 3)


def _kill_before(nth: int, told: Path, root: str) -> None:
    left = nth

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        made = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        if not made and event not in _CHANGES:
            return
        words = " ".join(str(name) for name in arguments if not isinstance(name, int))
        elsewhere = words.startswith("/") and root not in words
        if elsewhere or "/backtrail/" in words:
            return
        left -= 1
        if left == 0:
            told.write_text(f"{event} {words}")
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def kills(world: World, command: tuple[str, ...], *, stride: int) -> Iterator[Crash]:
    """The world as each kill leaves it; in the end the command gets through."""
    start, told, root = Frozen.of(world, "start"), world.home / "killed before", str(world.root)
    try:
        for nth in range(1, _PATIENCE, stride):
            ran = run_forked(world, *command, before=partial(_kill_before, nth, told, root))
            if ran.code != KILLED:
                ran.ok()
                return
            yield Crash([told.read_text()])
            start.thaw()
    finally:
        start.drop()


def users_git_is_wrong(world: World) -> list[str]:
    """What the user's own git says against the repository."""
    tried = [("worktree", "list"), ("status", "--porcelain"), ("branch", "--list")]
    ran = [world.run("git", *words, cwd=world.repo) for words in tried]
    return [f"{r.arguments}: {r.err}" for r in ran if r.code]


def litter(world: World, *plans: str) -> list[str]:
    """Names in the repository and beside its sandboxes that no plan needs."""
    git_dir, root = world.repo / ".git", world.sandbox("auth").parent
    beside = sorted(path.name for path in root.iterdir()) if root.exists() else []
    found = [str(path) for path in git_dir.glob("backtrail-*")]
    found += [str(p) for p in git_dir.rglob("*.lock") if "backtrail" not in p.parts]
    found += [str(path) for path in git_dir.glob("worktrees/*/backtrail-[a-zH]*")]
    registered = sorted(path.name for path in git_dir.glob("worktrees/*"))
    branches = world.git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/plan").split()
    return [
        *found,
        *(f"{what}" for what in (beside, registered, branches) if what != sorted(plans)),
    ]


def go_on(
    world: World,
    crash: Crash,
    killed: tuple[str, ...],
    command: tuple[str, ...],
    plans: list[str],
) -> None:
    """The user's git works, the next command finishes what was begun, and nothing lies about."""
    crash.note("git", users_git_is_wrong(world))
    ran = run_forked(world, *command)
    if ran.code in _NOT_BEGUN:
        # It had not been announced, or had come to its end: then it is like any other.
        ran = run_forked(world, *killed)
    crash.note("usable", [] if ran.code in (0, IN_PLACE) else [f"{command}: {ran.code}: {ran.err}"])
    status = world.run("git", "status", "--porcelain", cwd=world.sandbox("auth"))
    crash.note("usable", [status.out] if status.code or status.out else [])
    crash.note("litter", litter(world, *plans))
    crash.note("invariant", audit.problems(world))


def fill_disk() -> None:
    """From here on this process, and all that it starts, can write to no file."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
