"""The checkpoints on a small disk of their own, which can be read-only or full.

A mount of its own is seen by the processes of this script alone, whether root runs it or anybody.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from support.program.forked import NO_FAILPOINTS, DoHere, run_forked
from support.world.world import Ran, World

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIZE = "size=3m,mode=700"
_FILLER = "filler"


def run_on_disk(
    world: World, how: str, commands: Sequence[str], failpoint: str | None = None
) -> list[Ran]:
    """Run each command while the disk is so; with a failpoint it becomes so there."""
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    asked = json.dumps([str(world.root), how, list(commands), failpoint])
    done = world.run(
        *apart, sys.executable, __file__, asked, env={"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    return [Ran(tuple(ran[0]), *ran[1:]) for ran in json.loads(done.ok().out)]


def _main(root: str, how: str, commands: list[str], failpoint: str | None) -> None:
    world = World(root=Path(root))
    home, kept = world.backtrail_home, world.root / "kept"
    shutil.copytree(home, kept, symlinks=True)
    _mount("-t", "tmpfs", "-o", _SIZE, "backtrail", str(home))
    _move_in(kept, home)
    if failpoint is None:
        _become(how, home)
    meddler = DoHere(failpoint, lambda: _become(how, home)) if failpoint else NO_FAILPOINTS
    found = [run_forked(world, *command.split(), failpoints=meddler) for command in commands]
    _mount("-o", "remount,rw", str(home))
    (home / _FILLER).unlink(missing_ok=True)
    shutil.copytree(home, kept, symlinks=True)
    subprocess.run(["umount", str(home)], check=True)
    shutil.rmtree(home)
    home.mkdir(mode=0o700)
    _move_in(kept, home)
    json.dump([[ran.arguments, ran.code, ran.out, ran.err] for ran in found], sys.stdout)


def _move_in(kept: Path, home: Path) -> None:
    shutil.copytree(kept, home, symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(kept)


def _become(how: str, home: Path) -> None:
    if how == "read-only":
        _mount("-o", "remount,ro", str(home))
        return
    with (home / _FILLER).open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


if __name__ == "__main__":
    _main(*json.loads(sys.argv[1]))
