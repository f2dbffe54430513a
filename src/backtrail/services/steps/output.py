"""The recorded output of steps: one compressed file for each attempt, dropped beyond a limit.

A file holds pieces in the order in which they came: one byte for the stream, four for the length,
then the bytes. Neither writing nor reading holds more than a piece in memory. A file counts only
once a completion in the database says that it is kept; all others may be swept away.

The rows say first that the output is gone, then the files go; what a crash leaves in between is
swept away when the next step starts. Exit codes, digests and results stay as long as the plan.
"""

from __future__ import annotations

import gzip
import os
import struct
import threading
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from backtrail.domain.ledger import outputs_to_drop
from backtrail.domain.step import OutputState
from backtrail.git.osfiles.durable import fsync_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable
    from pathlib import Path

    from backtrail.domain.ids import MarkId, PlanId
    from backtrail.domain.step import Mark
    from backtrail.services.session.context import LockedSandbox
    from backtrail.storage.database import UnitOfWork


STDOUT, STDERR = 1, 2
_HEADER = struct.Struct(">BI")
# Quick rather than small: the command must not wait for us.
_LEVEL = 3


@dataclass(frozen=True, slots=True)
class KeptOutput:
    """What became of an attempt's output, what it takes on disk, and why it was lost."""

    state: OutputState
    size: int = 0
    problem: str | None = None


class OutputWriter:
    """Takes what both streams of one attempt bring, from any thread.

    Trouble with the file must not disturb the command: it is remembered, and what was written so
    far is given up.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._open: tuple[BinaryIO, gzip.GzipFile] | None = None
        self._problem: str | None = None

    def write(self, stream: int, piece: bytes) -> None:
        with self._lock, self._guard():
            if self._problem is None:
                _, packed = self._open = self._open or self._opened()
                packed.write(_HEADER.pack(stream, len(piece)) + piece)

    def close(self) -> KeptOutput:
        """Bring all of it to disk; only then may a completion say that it is kept."""
        with self._lock:
            if self._open is not None:
                self._finish(*self._open)
            if self._problem is not None:
                with suppress(OSError):
                    self._path.unlink()
                return KeptOutput(OutputState.LOST, problem=self._problem)
            if self._open is None:
                return KeptOutput(OutputState.NONE)
            return KeptOutput(OutputState.KEPT, self._path.stat().st_size)

    def _opened(self) -> tuple[BinaryIO, gzip.GzipFile]:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        file = os.fdopen(os.open(self._path, flags, 0o600), "wb")
        return file, gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_LEVEL, filename="")

    def _finish(self, file: BinaryIO, packed: gzip.GzipFile) -> None:
        with self._guard(), file:
            packed.close()
            file.flush()
            os.fsync(file.fileno())
        with self._guard():
            fsync_directory(self._path.parent)

    @contextmanager
    def _guard(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            self._problem = self._problem or error.strerror or str(error)


@dataclass(frozen=True, slots=True)
class RecordedOutput:
    """The recorded output of one plan's steps."""

    directory: Path

    @classmethod
    def of(cls, home: Path, plan_id: PlanId) -> RecordedOutput:
        return cls(home / "output" / plan_id)

    def writer(self, attempt: MarkId) -> OutputWriter:
        return OutputWriter(self._path(attempt))

    def replay(self, attempt: MarkId, write: Callable[[int, bytes], None]) -> bool:
        """Hand every piece to `write` as it came; False if the file is gone or damaged."""
        try:
            with gzip.open(self._path(attempt), "rb") as file:
                while header := file.read(_HEADER.size):
                    stream, length = _HEADER.unpack(header)
                    write(stream, file.read(length))
        except (FileNotFoundError, EOFError, gzip.BadGzipFile, zlib.error, struct.error):
            return False
        return True

    def discard(self, attempts: Iterable[MarkId]) -> None:
        for attempt in attempts:
            self._path(attempt).unlink(missing_ok=True)

    def sweep(self, kept: Collection[MarkId]) -> None:
        """Remove what no completion keeps: crashes leave it behind."""
        names = {self._path(attempt).name for attempt in kept}
        # What cannot be removed now can be another time.
        with suppress(OSError):
            for path in self.directory.iterdir():
                if path.name not in names:
                    path.unlink(missing_ok=True)

    def _path(self, attempt: MarkId) -> Path:
        return self.directory / f"{attempt}.gz"


def drop_old_outputs(locked: LockedSandbox) -> None:
    """Drop the oldest output that the newest checkpoint covers, as far as there is too much."""
    ws, plan_id = locked.workspace, locked.plan.plan_id
    limit = ws.settings.steps.max_output_bytes
    with ws.database.write() as uow:
        going = _going(uow, locked, limit)
        if not going:
            return
        uow.steps.forget_outputs(mark.mark_id for mark in going)
    ws.failpoints.reach("outputs.forgotten")
    gone = (mark.attempt_id for mark in going if mark.attempt_id)
    RecordedOutput.of(ws.layout.home, plan_id).discard(gone)
    ws.failpoints.reach("outputs.dropped")


def _going(uow: UnitOfWork, locked: LockedSandbox, limit: int) -> list[Mark]:
    plan = uow.plans.lock(locked.plan.plan_id)
    newest = uow.checkpoints.latest(plan.plan_id)
    if newest is None:
        return []
    lineage = uow.epochs.lineage(plan.plan_id, plan.current_epoch)
    pending = uow.steps.ledger(plan.plan_id, lineage).pending
    return outputs_to_drop(
        uow.steps.marks(plan.plan_id),
        limit=limit,
        lineage=lineage,
        covered_until=newest.position,
        in_flight={entry.step.step_id for entry in pending},
    )
