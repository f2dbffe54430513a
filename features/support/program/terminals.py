"""The program on a terminal, as a person sees it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import time
from typing import TYPE_CHECKING

from support.world.world import PATIENCE_SECONDS

if TYPE_CHECKING:
    from support.world.world import World

_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def shown_on_terminal(world: World, *arguments: str) -> str:
    """All that a command writes to a terminal until it ends, which has to be well."""
    ours, theirs = pty.openpty()
    env = {**world.environment(), "TERM": "xterm"}
    with subprocess.Popen(
        [*world.program(), *arguments],
        cwd=world.repo, env=env, stdin=theirs, stdout=theirs, stderr=theirs,
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = _read_all(ours)
    os.close(ours)
    assert process.returncode == 0, shown.decode()
    return _CODES.sub("", shown.decode())


def _read_all(descriptor: int) -> bytes:
    shown = b""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            # So Linux says that nobody has the other end open any more.
            break
        if not part:
            break
        shown += part
    return shown
