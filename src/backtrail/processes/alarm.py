"""Wakes whoever waits for a command: a signal came, somebody asked for its end, a lease is lost."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType

from backtrail.domain.run import Cause

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Alarm:
    """Rings once and stays on; a lost lease outweighs every other reason."""

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()
        os.set_blocking(self._reading, False)
        os.set_blocking(self._writing, False)
        self.cause: Cause | None = None
        self.signals: list[int] = []
        """All that came so far; a second one is from somebody who is in a hurry."""

    def ring(self, cause: Cause) -> None:
        if self.cause is None or cause is Cause.LOST:
            self.cause = cause
        self.wake()

    def wake(self) -> None:
        with suppress(OSError):
            os.write(self._writing, b"!")

    def fileno(self) -> int:
        """Readable whenever there is something new."""
        return self._reading

    def heard(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._reading, 4096)

    @property
    def hurried(self) -> bool:
        return len(self.signals) > 1

    @contextmanager
    def on_signals(self) -> Generator[None]:
        """Let signals ring instead of ending this process; only the main thread can do so."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {s: signal.getsignal(s) for s in ENDING_SIGNALS}
        # What somebody chose to ignore, as nohup does, stays ignored.
        taken = {s: old for s, old in before.items() if old is not signal.SIG_IGN}
        for number in taken:
            signal.signal(number, self._on_signal)
        waking = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(waking)
            for number, old in taken.items():
                signal.signal(number, old)

    def close(self) -> None:
        os.close(self._reading)
        os.close(self._writing)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.signals.append(number)
        self.ring(Cause.SIGNAL)
