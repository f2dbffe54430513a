"""Private places in which a restore gets ready what comes, and holds what it has moved aside.

A staging place lies where things can be renamed from and to the sandbox: in our home, else beside
the sandbox. What was moved aside stays there until it is known to be what the safety checkpoint
holds, under a number whose path is written down before: what a killed restore has left is put back
by the next command.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from backtrail.domain.errors import GitFailedError
from backtrail.domain.ids import TreeId
from backtrail.domain.plan import Sandbox
from backtrail.domain.wording import some_of
from backtrail.git.osfiles.beneath import Beneath
from backtrail.git.osfiles.moving import CHUNK, can_rename, move_where_free
from backtrail.git.osfiles.walk import delete_tree
from backtrail.git.store.objects import HASHES, TreeEntry, list_tree
from backtrail.git.store.store import PrivateStore

_NEW, _OLD, _PATHS = "new", "old", "paths"


@dataclass(slots=True)
class Staging:
    """One staging place, in which changes are got ready one lot after the other."""

    place: Path
    _lots: int = field(default=0)

    def next_lot(self, leaving: Sequence[bytes]) -> Lot:
        """Room for a lot of changes, the paths that will be moved aside written down."""
        lot = Lot(self.place / str(self._lots))
        self._lots += 1
        lot.place.mkdir(mode=0o700)
        lot.new.mkdir(mode=0o700)
        (lot.place / _PATHS).write_bytes(b"\0".join(leaving))
        # The last one: whatever is in it has a path.
        lot.old.mkdir(mode=0o700)
        return lot


@dataclass(frozen=True, slots=True)
class Lot:
    """What comes, by its path, and what was moved aside, by its number."""

    place: Path

    @property
    def new(self) -> Path:
        return self.place / _NEW

    @property
    def old(self) -> Path:
        return self.place / _OLD


@contextmanager
def staging_for(store: PrivateStore, sandbox: Sandbox) -> Generator[Staging]:
    """A staging place; at the end whatever is still aside is put back."""
    above, prefix = _near(store, sandbox)
    place = Path(tempfile.mkdtemp(prefix=prefix, dir=above))
    try:
        yield Staging(place)
    finally:
        _empty(place, sandbox.path, {})


def put_back_aside(
    store: PrivateStore, sandbox: Sandbox, saved: Iterable[TreeId | None] = ()
) -> None:
    """Put back what a restore that was killed had moved aside; the sandbox is locked.

    What the `saved` trees hold was to be deleted, and may be.
    """
    known: dict[bytes, TreeEntry] | None = None
    for above, prefix in _places(store, sandbox):
        for place in sorted(above.glob(f"{prefix}*")):
            if known is None:
                known = {e.path: e for tree in saved if tree for e in list_tree(store, tree)}
            _empty(place, sandbox.path, known)


def _places(store: PrivateStore, sandbox: Sandbox) -> tuple[tuple[Path, str], ...]:
    """Where staging places can lie, the best first, and how their names begin."""
    name = f"{sandbox.sandbox_id}-"
    return (store.layout.staging, name), (sandbox.path.parent, f".backtrail-staging-{name}")


def _near(store: PrivateStore, sandbox: Sandbox) -> tuple[Path, str]:
    """The first place from which the sandbox can be reached by renaming, else the first one."""
    store.layout.staging.mkdir(mode=0o700, exist_ok=True)
    places = _places(store, sandbox)
    with Beneath(sandbox.path) as inside:
        for place in places:
            with Beneath(place[0]) as above:
                near = can_rename(above.directory(b""), inside.directory(b""))
            if near and os.access(place[0], os.W_OK):
                return place
    return places[0]


def has_content(directory: int, name: bytes, entry: TreeEntry | None) -> bool:
    """Whether a file or link has the content of an entry."""
    if entry is None:
        return False
    if not entry.is_file:
        return _is_blob(entry, [os.readlink(name, dir_fd=directory)])
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        size = os.fstat(descriptor).st_size
        return _is_blob(entry, iter(lambda: file.read(CHUNK), b""), size)


def _is_blob(entry: TreeEntry, parts: Iterable[bytes], size: int | None = None) -> bool:
    parts = parts if size is not None else list(parts)
    length = sum(map(len, parts)) if isinstance(parts, list) else size
    found = hashlib.new(HASHES[len(entry.object_id)], b"blob %d\0" % length, usedforsecurity=False)
    for part in parts:
        found.update(part)
    return found.hexdigest() == entry.object_id


def _empty(place: Path, root: Path, known: Mapping[bytes, TreeEntry]) -> None:
    """Remove a staging place once nothing is aside in it any more but what is known."""
    kept = [path for lot in sorted(place.iterdir()) for path in _put_back(lot, root, known)]
    if kept:
        names = some_of([repr(os.fsdecode(path)) for path in kept])
        raise GitFailedError(
            f"something else is by now where {names} was, which is kept in {str(place)!r}",
            details={"paths": list(map(os.fsdecode, kept)), "kept_in": str(place)},
        )
    with suppress(OSError):
        delete_tree(place)


def _put_back(lot: Path, root: Path, known: Mapping[bytes, TreeEntry]) -> Iterable[bytes]:
    """Put back what is still aside and not known; gives the paths at which something else is."""
    old = lot / _OLD
    numbers = os.listdir(old) if old.is_dir() else []
    if not numbers:
        return
    paths = (lot / _PATHS).read_bytes().split(b"\0")
    with Beneath(root) as inside, Beneath(old) as aside:
        for number in numbers:
            path = paths[int(number)]
            with suppress(OSError):  # what cannot be read, or is no file, is put back
                if has_content(aside.directory(b""), os.fsencode(number), known.get(path)):
                    continue
            try:
                directory, name = inside.above(path)
                move_where_free(
                    os.fsencode(number), name,
                    source_directory=aside.directory(b""), target_directory=directory,
                )  # fmt: skip
            except OSError:
                yield path
