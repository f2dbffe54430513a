"""Passing on what a command prints, as it comes, and keeping a copy of it.

Each stream has a thread of its own, so that a reader who is slow with one does not hold up the
other. No more than a piece of each is ever in memory: a command that prints faster than its reader
reads has to wait, as it would without us.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Self

_PIECE = 64 * 1024
Keep = Callable[[int, bytes], None]
"""Takes the number of the stream and a piece of what came through it."""


class Tee:
    """Stands between the streams of a command and ours, until it is left."""

    def __init__(self, targets: Mapping[int, int], keep: Keep) -> None:
        """`targets`: by stream of the command, the descriptor of ours that it is passed on to."""
        self._stop_out, self._stop_in = os.pipe()
        self._pipes = {stream: os.pipe() for stream in targets}
        self._threads = [
            threading.Thread(target=self._pump, args=(stream, target, keep), daemon=True)
            for stream, target in targets.items()
        ]

    @property
    def streams(self) -> dict[int, int]:
        """By stream of the command, the descriptor to give to it."""
        return {stream: pipe[1] for stream, pipe in self._pipes.items()}

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """All that the command has printed is passed on; who still holds its streams does not."""
        os.close(self._stop_in)
        for thread in self._threads:
            thread.join()
        for written in (*self.streams.values(), self._stop_out):
            os.close(written)

    def _pump(self, stream: int, target: int, keep: Keep) -> None:
        source = self._pipes[stream][0]
        os.set_blocking(source, False)
        try:
            while piece := self._next(source):
                keep(stream, piece)
                write_all(target, piece)
        except OSError:
            # Nobody reads on: closing our end tells the command, as it would be told without us.
            return
        finally:
            os.close(source)

    def _next(self, source: int) -> bytes | None:
        """The next piece; nothing at the end, or if the pipe is empty when all is over."""
        while True:
            ready, _, _ = select.select([source, self._stop_out], [], [])
            with suppress(BlockingIOError):
                return os.read(source, _PIECE)
            if self._stop_out in ready:
                return None


def write_all(target: int, piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        try:
            left = left[os.write(target, left) :]
        except BlockingIOError:
            # Somebody made the terminal or pipe that we share non-blocking.
            select.select([], [target], [])
