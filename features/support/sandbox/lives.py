"""Ends and returns of sandboxes: what users do to them by hand, and kills on the way."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from support.crashes.crashes import KILLED, Crash, Frozen, all_failpoints, kill_at
from support.program.forked import KillHere, run_forked
from support.world import audit
from support.world.examples import thorough
from support.world.world import write_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.world.world import World

HUGE = 101 * 1024**2
IN_PLACE = 1
"""The exit code of a restore that finds nothing to restore."""
# Passed only where a plan gets a parent.
OF_A_CHILD = {name for name in all_failpoints("plan") if name.startswith("plan.spawn")}
FEW = ("rollback.safety_made", "rollback.files_restored", "rollback.landed")
"""Places of a rollback that are tried by default; the others have features of their own."""


def busy_work(world: World, sandbox: Path) -> None:
    """Commits, staged and unstaged edits, a deletion, an empty folder and odd modes."""
    write_files(sandbox, {"src/app.py": "print('committed')\n"})
    world.git("commit", "--quiet", "-am", "work", cwd=sandbox)
    write_files(sandbox, {"staged.txt": "staged\n", "README.md": "staged, too\n"})
    world.git("add", "staged.txt", "README.md", cwd=sandbox)
    write_files(sandbox, {"README.md": "edited after that\n", "untracked/new.txt": "new\n"})
    (sandbox / "src" / "lib" / "util.py").unlink()
    (sandbox / "bare").mkdir()
    (sandbox / "untracked" / "new.txt").chmod(0o600)


def uncapturable(world: World, sandbox: Path) -> None:
    """Things that no checkpoint holds."""
    write_files(sandbox, {"build/cache.bin": b"\0" * 1000, "debug.log": "a log\n"})
    with (sandbox / "huge.bin").open("wb") as file:
        file.truncate(HUGE)
    os.mkfifo(sandbox / "pipe")
    nested = sandbox / "nested"
    nested.mkdir()
    world.git("init", "--quiet", cwd=nested)
    write_files(nested, {"inner.txt": "inner\n"})
    world.git("add", ".", cwd=nested)
    world.git("commit", "--quiet", "-m", "never pushed", cwd=nested)


def destroy(world: World, sandbox: Path, how: str) -> None:
    """What people and tools do to worktrees."""
    match how:
        case "rm -rf":
            shutil.rmtree(sandbox)
        case "git worktree remove --force":
            world.git("worktree", "remove", "--force", str(sandbox))
        case "rm -rf, git worktree prune, and the branch too":
            shutil.rmtree(sandbox)
            world.git("worktree", "prune")
            world.git("branch", "-D", "plan/auth")
        case "mv to another place, and git worktree prune":
            sandbox.rename(world.root / "moved away")
            world.git("worktree", "prune")
        case _:
            assert how == "its git directory alone", how
            shutil.rmtree(world.repo / ".git" / "worktrees" / "auth")


def _kills(world: World, command: tuple[str, ...], families: tuple[str, ...]) -> Iterator[str]:
    """The world as a kill leaves it, place by place: every place if a long search is asked for."""
    start = Frozen.of(world, "start")
    try:
        if thorough():
            for nth in range(1, 100):
                _, place = kill_at(world, nth, *command)
                if place is None:
                    return
                yield place
                start.thaw()
        wanted = all_failpoints(*(f for f in families if f != "rollback")) - OF_A_CHILD
        wanted |= set(FEW) if "rollback" in families else set()
        for place in sorted(wanted):
            ran = run_forked(world, *command, failpoints=KillHere(place))
            assert ran.code == KILLED, (place, ran)
            yield place
            start.thaw()
    finally:
        start.drop()


def killed_everywhere(
    world: World,
    command: tuple[str, ...],
    families: tuple[str, ...],
    after: Callable[[Crash], None],
) -> list[Crash]:
    """Kill a command wherever it can be, and look at what comes of it."""
    crashes: list[Crash] = []
    for place in _kills(world, command, families):
        crash = Crash([place])
        after(crash)
        crash.note("invariant", audit.problems(world))
        crashes.append(crash)
    return crashes
