"""Several real processes that begin at the same moment."""

from __future__ import annotations

import fcntl
import os
import tempfile
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from backtrail.domain.errors import BacktrailError
from support.program.worker import work

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from support.world.world import World


Job = tuple[str, str, int]
"""What to do, on which plan, how often."""


def work_at_once(world: World, jobs: Sequence[Job]) -> list[str]:
    """Run workers, all let go at once; what any of them complained of."""
    return work_everywhere([(world, job) for job in jobs])


def work_everywhere(jobs: Sequence[tuple[World, Job]]) -> list[str]:
    """The same in several repositories of one world."""
    gate = os.pipe()
    workers = [_start(world, job, gate) for world, job in jobs]
    # Each waits for the end of this pipe, which comes when the last one has begun to wait for it.
    for end in gate:
        os.close(end)
    ended = [(os.waitpid(worker, 0)[1], said) for worker, said in workers]
    codes = [(os.waitstatus_to_exitcode(status), said) for status, said in ended]
    return [f"{code}: {_text(said)}" for code, said in codes if code]


def _start(world: World, job: Job, gate: tuple[int, int]) -> tuple[int, BinaryIO]:
    said = tempfile.TemporaryFile()  # noqa: SIM115 - read when the worker has ended
    worker = os.fork()
    if worker == 0:
        _work(world, job, gate, said)
    return worker, said


def _work(world: World, job: Job, gate: tuple[int, int], said: BinaryIO) -> NoReturn:
    code = 1
    try:
        os.environ.clear()
        os.environ.update(world.environment())
        os.close(gate[1])
        os.read(gate[0], 1)
        work(world.repo, *job)
        code = 0
    except BaseException as error:  # noqa: BLE001 - whatever it is, the scenario tells it
        code = error.exit_code if isinstance(error, BacktrailError) else 1
        said.write(traceback.format_exc().encode())
        said.flush()
    finally:
        os._exit(code)


def _text(said: BinaryIO) -> str:
    said.seek(0)
    return said.read().decode(errors="replace")[-1500:]


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
