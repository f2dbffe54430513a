"""Sandboxes that do not hold still: files that change under the eyes of git, directories that go.

What takes luck to meet is played by a git of our own, which does what git does in such a moment.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from support.world.world import World

FILLED = 4 * 1024**2
_FAILURES = {
    "gives up": "echo 'fatal: confused by unstable object source data' >&2; exit 128",
    "is killed by that": 'touch "$GIT_INDEX_FILE.lock"; kill -BUS $$',
}
_FILLER = f"""
import itertools, os, sys
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for turn in itertools.count():
    os.pwrite(descriptor, bytes([65 + turn % 26]) * {FILLED}, 0)
"""


def failing_git(world: World, place: Path, failure: str, *, changing: bool) -> dict[str, str]:
    """Environment in which git fails whenever it is to store a file, which changes or does not."""
    change = f"echo x >> {shlex.quote(str(place))}" if changing else ":"
    return _own_git(
        world,
        '*" --add --remove "*)\n'
        f'  cat > "{world.root}/asked"\n'
        f'  if grep -qz "^{re.escape(place.name)}$" "{world.root}/asked"\n'
        f"  then {change}; {_FAILURES[failure]}; fi\n"
        f'  exec git "$@" < "{world.root}/asked";;\n',
    )


def git_that_misses(world: World, directory: str, *, always: bool) -> dict[str, str]:
    """Environment in which git says of a directory that it has just gone."""
    seen = world.root / "seen"
    note = ":" if always else f'touch "{seen}"'
    warning = f"warning: could not open directory '{directory}/': No such file or directory"
    return _own_git(
        world,
        '*" ls-files -o -z --exclude-standard --directory "*)\n'
        f'  [ -e "{seen}" ] || echo "{warning}" >&2\n'
        f"  {note}\n"
        '  exec git "$@";;\n',
    )


def _own_git(world: World, cases: str) -> dict[str, str]:
    here = world.root / "own git"
    here.mkdir()
    script = here / "git"
    path = os.environ["PATH"]
    script.write_text(f'#!/bin/sh\nPATH=\'{path}\'\ncase " $* " in\n{cases}esac\nexec git "$@"\n')
    script.chmod(0o755)
    return {"PATH": f"{here}:{path}"}


def start_filling(place: Path) -> subprocess.Popen[bytes]:
    """A process that writes one letter over another in a file, without end."""
    filling = subprocess.Popen([sys.executable, "-c", _FILLER, str(place)])
    while not place.exists() or place.stat().st_size < FILLED:
        time.sleep(0.01)
    return filling


def of_one_moment(content: bytes) -> bool:
    """Whether a file was so while it was filled: one letter up to a place, then the one before."""
    letters = [letter for letter, _ in itertools.groupby(content)]
    follows = len(letters) == 1 or (letters[0] - letters[-1]) % 26 == 1
    return len(content) == FILLED and len(letters) <= 2 and follows


def stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
