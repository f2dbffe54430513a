"""Standard output and standard error, whatever state the caller left them in."""

from __future__ import annotations

import io
import os
import sys


def prepare() -> None:
    """Make both streams usable: closed ones go nowhere, poor encodings get escapes."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def data(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def talk(line: str, end: str = "\n") -> None:
    sys.stderr.write(f"{line}{end}")
    sys.stderr.flush()


def data_bytes(content: bytes) -> None:
    """Bytes as they are, in order with the lines before them."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        # Somebody put a text-only stream in the place of standard output.
        sys.stdout.write(content.decode("utf-8", "backslashreplace"))
    else:
        buffer.write(content)


def is_terminal(stream: object) -> bool:
    # A daemon's stream may be None or closed, and both mean that nobody is looking.
    try:
        return bool(getattr(stream, "isatty", bool)())
    except ValueError:
        return False


def discard_output() -> None:
    """Let the flush at exit go nowhere instead of failing once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
