"""The file itself: found, checked to be a file of moderate size, and parsed as TOML."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

from backtrail.domain.errors import UsageError

FILE_NAME = "plan.toml"
MAX_BYTES = 1024**2
_CORRECT = "correct the file, or move it away"


def read_document(path: Path) -> dict[str, Any] | None:
    """What the file says; None if there is none."""
    try:
        content = _content(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _wrong(path, f"cannot be read: {error.strerror}") from error
    return _parsed(path, content)


def _parsed(path: Path, content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        raise _wrong(path, f"is not UTF-8: a wrong byte is in line {line}", _CORRECT) from error
    except RecursionError as error:
        raise _wrong(path, "is nested too deeply", _CORRECT) from error
    except ValueError as error:
        # Not all that tomllib raises is of its own type: a number may have too many digits.
        what = str(error).splitlines()[0]
        raise _wrong(path, f"is not valid TOML: {what[:1].lower()}{what[1:]}", _CORRECT) from error


def _content(path: Path) -> bytes:
    if path.is_symlink():
        _check_link(path)
    # Opening a named pipe would wait for somebody to write to it.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _wrong(path, "is not a file", "move away what is there")
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(content) > MAX_BYTES:
        raise _wrong(path, f"is larger than {MAX_BYTES} bytes", _CORRECT)
    return content


def _check_link(path: Path) -> None:
    """What is beside the checkout may be a sandbox, where everybody may write."""
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(os.path.realpath(path.parent)):
        raise _wrong(
            path, "is a symbolic link that leads out of the checkout", "put the file itself there"
        )
    if not target.exists():
        raise _wrong(path, "is a symbolic link that leads nowhere", _CORRECT)


def _wrong(path: Path, what: str, hint: str | None = None) -> UsageError:
    return UsageError(
        f"{str(path)!r} {what}", hint=hint or "make it readable", details={"file": str(path)}
    )
