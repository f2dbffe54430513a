"""A git on PATH that fails, dawdles or lies at chosen commands, and is the real one otherwise."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from support.world import World

WAYS = {
    "fails": 'echo "fatal: No space left on device" >&2; exit 128',
    # A file size limit of zero is a full disk that needs no file system of its own.
    "finds the disk full": 'ulimit -f 0; exec "$real" "$@"',
    "empties the index and says nothing": 'rm -f "$GIT_INDEX_FILE"; exit 0',
    "dawdles": 'echo $$ > "$here/dawdling"; sleep 6; exec "$real" "$@"',
}


def faulty_git(world: World, subcommand: str, way: str) -> dict[str, str]:
    """Environment in which `git … SUBCOMMAND …` goes wrong; it may be several words."""
    here = world.root / "faulty git"
    here.mkdir(exist_ok=True)
    script = here / "git"
    script.write_text(
        "#!/bin/sh\n"
        f"real='{shutil.which('git')}'\n"
        f"here='{here}'\n"
        f'case " $* " in *" {subcommand} "*) {WAYS[way]};; esac\n'
        'exec "$real" "$@"\n'
    )
    script.chmod(0o755)
    path = world.environment()["PATH"]
    return {"PATH": f"{here}:{path}"}


def dawdling(world: World) -> int:
    """The process id of a git that has been reached and dawdles."""
    told = world.root / "faulty git" / "dawdling"
    return int(_eventually(told))


def _eventually(told: Path) -> str:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if told.exists() and told.read_text().strip():
            return told.read_text()
        time.sleep(0.02)
    raise AssertionError(f"{told} did not appear")
