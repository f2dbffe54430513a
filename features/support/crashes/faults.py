"""A git on PATH that fails, dawdles or lies at chosen commands, and rows that cannot be written."""

from __future__ import annotations

import shutil
import sqlite3
import time
from typing import TYPE_CHECKING

from sqlalchemy import Engine, event

from support.world.world import PATIENCE_SECONDS

if TYPE_CHECKING:
    from support.world.world import World

# It goes on when it is told to; a scenario that broke off must not leave it for good.
_DAWDLE = (
    'echo $$ > "$here/dawdling"; n=0; while [ ! -e "$here/go on" ] && [ $n -lt 3000 ]; '
    'do sleep 0.1; n=$((n+1)); done; exec "$real" "$@"'
)
_BEYOND = (
    "echo \"error: 'README.md' is beyond a symbolic link\" >&2; "
    'echo "fatal: Unable to process path README.md" >&2; exit 128'
)
WAYS = {
    "fails": 'echo "fatal: No space left on device" >&2; exit 128',
    # A file size limit of zero is a full disk that needs no file system of its own.
    "finds the disk full": 'ulimit -f 0; exec "$real" "$@"',
    "empties the index and says nothing": 'rm -f "$GIT_INDEX_FILE"; exit 0',
    "kills the program": "kill -KILL $PPID; exit 0",
    # Ours works in a git directory of its own: what is left in the worktree's is another's.
    "leaves its lock and kills the program": (
        'for place in "$(cat "$GIT_DIR/commondir")"/worktrees/*; do : > "$place/HEAD.lock"; done; '
        "kill -KILL $PPID; exit 0"
    ),
    "waits 3 seconds": 'sleep 3; exec "$real" "$@"',
    "is killed": "kill -KILL $$",
    "is killed with the program, and leaves its lock": (
        ': > "$GIT_INDEX_FILE.lock"; echo half > "$GIT_WORK_TREE/README.md"; kill -KILL $PPID $$'
    ),
    "finds a link above README.md twice": (
        'if [ ! -e "$here/second" ]; then '
        '[ -e "$here/first" ] && : > "$here/second"; : > "$here/first"; '
        f"{_BEYOND}; fi"
    ),
    "always finds a link above README.md": (
        'cat > "$here/asked"; if grep -aq README.md "$here/asked"; then '
        f'{_BEYOND}; fi; exec "$real" "$@" < "$here/asked"'
    ),
    "dawdles": _DAWDLE,
    "removes work.txt and dawdles": f'rm "$GIT_WORK_TREE/work.txt"; {_DAWDLE}',
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


def wait_until_it_dawdles(world: World) -> int:
    """Wait for a git that was reached and dawdles; gives its process id."""
    told = world.root / "faulty git" / "dawdling"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (told.exists() and told.read_text().endswith("\n")):
        assert time.monotonic() < deadline, f"{told} did not appear"
        time.sleep(0.02)
    return int(told.read_text())


def let_it_go_on(world: World) -> None:
    (world.root / "faulty git" / "go on").touch()


def fill_database() -> None:
    """From here on no row can be written in this process, as where the disk is full."""

    def refuse(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.split(maxsplit=1)[0] in {"INSERT", "UPDATE", "DELETE"}:
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorname = "SQLITE_FULL"
            raise error

    event.listen(Engine, "before_cursor_execute", refuse)
