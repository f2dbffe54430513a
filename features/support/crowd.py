"""Several real processes that begin at the same moment."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from support.world import World

WORKER = Path(__file__).with_name("worker.py")


def work_at_once(world: World, jobs: Sequence[tuple[str, str, int]]) -> list[str]:
    """Run workers, each (what, plan, count), all let go at once; what any of them complained of."""
    go = world.root / "go"
    go.unlink(missing_ok=True)
    workers = [_start(world, go, *job) for job in jobs]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    go.touch()
    said = [worker.communicate(timeout=300)[1] for worker in workers]
    codes = [worker.returncode for worker in workers]
    return [f"{code}: {text[-1500:]}" for code, text in zip(codes, said, strict=True) if code]


def _start(world: World, go: Path, what: str, plan: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WORKER), str(go), str(world.repo), what, plan, str(count)],
        env=world.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def somebody_holding(lock: Path) -> Generator[int]:
    """Another process that holds a lock file; gives its process id."""
    ready, done = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        with lock.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            os.write(ready[1], b"!")
            os.close(done[1])
            os.read(done[0], 1)
        os._exit(0)
    os.read(ready[0], 1)
    try:
        yield child
    finally:
        for descriptor in (*ready, *done):
            os.close(descriptor)
        os.waitpid(child, 0)
