"""Being told to end: whatever the signal, what was started is ended and tidied up first."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def every_end_is_an_interrupt() -> Generator[None]:
    """Let SIGTERM and a closed terminal end it like Ctrl-C, so that nothing is left behind.

    A git that outlives us would keep the sandbox locked until it ends, if it ever does.
    """
    ends = (signal.SIGTERM, signal.SIGHUP)
    # Under nohup a closed terminal is no end.
    before = {end: signal.getsignal(end) for end in ends if signal.getsignal(end) != signal.SIG_IGN}
    for end in before:
        signal.signal(end, signal.default_int_handler)
    try:
        yield
    finally:
        for end, handler in before.items():
            signal.signal(end, handler)
