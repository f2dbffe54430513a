"""Another place for what a look has to write, where the store is read-only or its disk is full.

Objects are then written there, and those of the store and of the user's repository are borrowed.
Nothing that is to be kept may refer to them.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backtrail.domain.errors import FailedError

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
_ROOM = 1 << 20
"""A place with less room than this is not worth trying."""


@dataclass(slots=True)
class Elsewhere:
    """Where a command looks from, if not from the store; one for all that it does."""

    candidates: tuple[Path, ...] = ()
    place: Path | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, cause: str) -> None:
        """Have such a place; several sandboxes may be looked at side by side."""
        with self._lock:
            if self.place is None:
                self.place = self._made(cause)

    def _made(self, cause: str) -> Path:
        for candidate in self.candidates:
            try:
                place = Path(tempfile.mkdtemp(prefix="backtrail-look-", dir=candidate))
            except OSError:
                continue
            try:
                for name in ("objects", "scratch"):
                    (place / name).mkdir()
                (place / "room").write_bytes(bytes(_ROOM))
                (place / "room").unlink()
            except OSError:
                shutil.rmtree(place, ignore_errors=True)
            else:
                return place
        tried = ", ".join(map(str, self.candidates))
        raise FailedError(
            f"there is no room to look at the sandbox: {cause}",
            hint=f"free some space; these were tried as well: {tried}",
        )

    def environment(self, *borrowed: str) -> Mapping[str, str]:
        """What lets git write its objects there, and read those of others; quoted paths."""
        if self.place is None:
            return {}
        return {
            "GIT_OBJECT_DIRECTORY": str(self.place / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": ":".join(borrowed),
        }

    def close(self) -> None:
        if self.place is not None:
            shutil.rmtree(self.place, ignore_errors=True)
            self.place = None
