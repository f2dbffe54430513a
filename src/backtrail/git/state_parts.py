"""The bulky parts of a checkpoint's state, stored while the rest is still being captured."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.git.ignore import scratch_directory

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from backtrail.git.gitstate import UserIndex
    from backtrail.git.runner import Output, RunningGit
    from backtrail.git.store import PrivateStore

EXCLUDES, INDEX = "excludes", "index"


@dataclass(slots=True)
class StoringParts:
    """Hashing and compressing that is under way."""

    names: tuple[str, ...]
    running: RunningGit
    output: Output | None = None

    def blobs(self) -> dict[str, str]:
        """The ids of the parts, by name."""
        return dict(zip(self.names, self.wait().checked().text.splitlines(), strict=True))

    def wait(self) -> Output:
        if self.output is None:
            self.output = self.running.finish()
        return self.output


@contextmanager
def storing_parts(
    store: PrivateStore, index: UserIndex | None, excludes: bytes
) -> Generator[StoringParts]:
    """Begin to store the user's index and the ignore text; both may be large."""
    parts: Mapping[str, bytes] = {EXCLUDES: excludes, **({INDEX: index.content} if index else {})}
    with scratch_directory(store) as directory:
        for name, content in parts.items():
            (directory / name).write_bytes(content)
        running = store.git(directory).start("hash-object", "-w", "--no-filters", *parts)
        storing = StoringParts(tuple(parts), running)
        try:
            yield storing
        finally:
            storing.wait()
