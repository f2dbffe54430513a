"""What never ends: files that block or are absurd, rules that burn, and very deep directories."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from support.world.world import World

HOPELESS = "*a" * 40 + "b"
"""Matching it against the name below tries all ways to choose forty letters of a hundred."""
NAME = "a" * 100 + "c"
LINKS = {"a link to itself": "", "a link to too long a name": "n" * 300}
FILLING = {
    "line ends": b"\n",
    "blanks": b" ",
    "tabs": b"\t",
    "vertical tabs": b"\v",
    "carriage returns": b"\r",
    "letters": b"a",
    "digits": b"0",
    "words without a name": b"pick ",
}
_TEBIBYTE = 1024**4


def put(what: str, place: Path) -> None:
    """Put something that never ends in the place of a file."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    if what == "a FIFO":
        os.mkfifo(place)
    elif what in LINKS:
        place.symlink_to(LINKS[what] or place.name)
    elif what.startswith("a link to "):
        place.symlink_to(what.removeprefix("a link to "))
    elif what == "a hopeless rule":
        place.write_text(f"{HOPELESS}\n")
    else:
        place.touch()
        os.truncate(place, _TEBIBYTE)


def find(world: World, sandbox: Path, where: str) -> Path:
    """The place that a scenario speaks of."""
    git_dir = world.repo / ".git"
    if where == "its branch":
        return git_dir / "refs" / "heads" / "plan" / sandbox.name
    name, _, owner = where.partition(" of ")
    roots = {
        "the sandbox": sandbox,
        "its git directory": git_dir / "worktrees" / sandbox.name,
        "the repository": git_dir,
    }
    return roots[owner] / name


def nest(root: Path, count: int, name: str) -> None:
    """Make a file below that many directories, one in the other, whatever becomes of its path."""
    code = (
        "import os, sys\n"
        "for _ in range(int(sys.argv[1])):\n"
        "    os.mkdir(sys.argv[2]); os.chdir(sys.argv[2])\n"
        "open('leaf', 'w').write('x')\n"
    )
    subprocess.run([sys.executable, "-c", code, str(count), name], cwd=root, check=True)


def leaves(root: Path) -> int:
    """How many files that `nest` made there are, however deep."""
    found = subprocess.run(["find", root, "-name", "leaf"], capture_output=True, check=True)
    return found.stdout.count(b"leaf")


def remove(place: Path) -> None:
    """Remove what Python itself could not."""
    subprocess.run(["rm", "-rf", os.fspath(place)], check=True)
