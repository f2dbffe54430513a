"""Letting git bring an index from one tree to another, unless somebody has changed a file."""

from __future__ import annotations

import errno
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from backtrail.domain.errors import GitFailedError
from backtrail.domain.wording import some_of
from backtrail.git.process.runner import GitRunner
from backtrail.git.process.stderr import changed_since, really_named

# What happens to a name when somebody else is at work there, too.
_MEANWHILE = frozenset({
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST,
    errno.ENOTEMPTY, errno.ELOOP, errno.ENXIO, errno.ESTALE,
})  # fmt: skip


@contextmanager
def errors_about(path: bytes) -> Generator[None]:
    """Name the path that is being restored in any error of the system, in one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _MEANWHILE:
            raise changed_meanwhile([path]) from error
        raise GitFailedError(
            f"{os.fsdecode(path or b'.')!r} cannot be restored: {error.strerror}",
            details={"path": os.fsdecode(path)},
        ) from error


def switch_index(git: GitRunner, root: Path, present: str, goal: str) -> None:
    """Bring an index that holds one tree to another one; no file is written.

    Two trees, not --reset: git then looks at every file concerned, and refuses if one has changed
    since it was captured.
    """
    output = git.run("read-tree", "-m", present, goal)
    changed = changed_since(output.stderr) if output.code else []
    if changed:
        raise changed_meanwhile([really_named(root, path) for path in changed])
    output.checked()


def changed_meanwhile(paths: Sequence[bytes]) -> GitFailedError:
    """What to tell when somebody writes where files are being restored."""
    names = [os.fsdecode(path) for path in paths]
    was, it_was = ("was", "it was") if len(names) == 1 else ("were", "they were")
    return GitFailedError(
        f"{some_of(list(map(repr, names)))} {was} changed while {it_was} being rolled back",
        details={"paths": names},
    )
