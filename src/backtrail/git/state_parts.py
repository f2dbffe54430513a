"""The bulky parts of a checkpoint's state, stored while the rest is still being captured."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.git.ignore import scratch_directory

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from backtrail.git.gitstate import UserIndex
    from backtrail.git.runner import RunningGit
    from backtrail.git.state_memo import StateMemo
    from backtrail.git.store import PrivateStore

EXCLUDES, INDEX = "excludes", "index"


@dataclass(slots=True)
class StoringParts:
    """Hashing and compressing that is under way, or was spared."""

    names: tuple[str, ...]
    running: RunningGit | None
    ready: dict[str, str] | None = None

    def blobs(self) -> dict[str, str]:
        """The ids of the parts, by name."""
        if self.ready is None and self.running is not None:
            lines = self.running.finish().checked().text.splitlines()
            self.ready = dict(zip(self.names, lines, strict=True))
        return self.ready or {}


@contextmanager
def storing_parts(
    store: PrivateStore, index: UserIndex | None, excludes: bytes, memo: StateMemo | None = None
) -> Generator[StoringParts]:
    """Begin to store the user's index and the ignore text, unless they are there already."""
    if memo is not None:
        yield StoringParts((), None, memo.parts)
        return
    parts: Mapping[str, bytes] = {EXCLUDES: excludes, **({INDEX: index.content} if index else {})}
    with scratch_directory(store) as directory:
        for name, content in parts.items():
            (directory / name).write_bytes(content)
        running = store.git(directory).start("hash-object", "-w", "--no-filters", *parts)
        storing = StoringParts(tuple(parts), running)
        try:
            yield storing
        finally:
            # Git reads the files in the directory that is about to go.
            storing.blobs()
