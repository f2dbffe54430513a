"""Moments in which Ctrl-C has to wait: between starting a process and knowing of it.

An interrupt in between would leave a git that nobody ends, with the lock of the sandbox in hand.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def undisturbed() -> Generator[None]:
    """Hold interrupts back for a moment, and let them happen afterwards."""
    if threading.current_thread() is not threading.main_thread():
        # Python delivers them to the main thread alone.
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    raising = [end for end in _ENDS if signal.getsignal(end) is signal.default_int_handler]
    for end in raising:
        signal.signal(end, lambda number, frame: held.append((number, frame)))
    try:
        yield
    finally:
        for end in raising:
            signal.signal(end, signal.default_int_handler)
        if held:
            signal.default_int_handler(*held[0])
