"""Who uses the store now, so that what killed commands left can be told from work under way.

Every command shares one lock with all others, and so does each git that it starts, also when it
outlives the command. Whoever gets that lock alone is the only one: what is half done is nobody's.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.git.osfiles.durable import read_checked, write_checked
from backtrail.git.osfiles.locks import no_locks
from backtrail.git.store.set_aside import delete

if TYPE_CHECKING:
    from backtrail.git.store.store import StoreLayout


STAGED = "staged"
"""In a scratch directory: what its command is building elsewhere."""
_FAN_OUT = re.compile(r"[0-9a-f]{2}|pack")
_HALF = re.compile(r"\.?tmp[_-].*")
_LOCK = re.compile(r".*\.lock|packed-refs\.new")
_OWN = re.compile(r"store\.(?:git|json.*)\.new")
_BESIDE = re.compile(r".*\.(?:lock|no-file)")
_STAGING = re.compile(r"\..+\.[a-z0-9_]{8}")


def join(layout: StoreLayout) -> int | None:
    """Be among those who use the store; who finds nobody else there tidies up first.

    Where nothing can be written there is nothing to tidy up, and None comes back.
    """
    path = layout.locks / "in-use.lock"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    with suppress(OSError):  # held by others; what cannot lock at all says so below
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for leftover in _leftovers(layout):
            with suppress(OSError):
                _remove(leftover)
    # Somebody who tidies up is soon done.
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    except OSError as error:
        os.close(descriptor)
        raise no_locks() from error
    return descriptor


def note_staging(scratch: Path, building: Path) -> None:
    """Remember what is being built where nobody would look for it."""
    found = building.stat()
    write_checked(scratch / STAGED, f"{found.st_dev} {found.st_ino} {building}".encode())


def _leftovers(layout: StoreLayout) -> Iterator[Path]:
    """What killed commands left. All objects are looked through only if there is a sign of one."""
    scratch = _entries(layout.scratch)
    top = [path for path in _entries(layout.git_dir) if _LOCK.fullmatch(path.name)]
    objects = layout.git_dir / "objects"
    inside = _entries(objects)
    half = [path for path in inside if _HALF.fullmatch(path.name)]
    if not (scratch or top or half):
        return
    for directory in scratch:
        yield from _staged(directory)
    for directory in (path for path in inside if _FAN_OUT.fullmatch(path.name)):
        half += (path for path in _entries(directory) if _HALF.fullmatch(path.name))
    refs = layout.git_dir / "refs"
    top += (Path(d) / name for d, _, names in os.walk(refs) for name in names if _is_lock(name))
    top += (path for path in _entries(layout.home) if _OWN.fullmatch(path.name))
    top += (path for path in _entries(layout.indexes) if _BESIDE.fullmatch(path.name))
    top += (path for path in _entries(layout.locks) if path.name.endswith(".no-lock"))
    yield from (*half, *top, *scratch)


def _is_lock(name: str) -> bool:
    return name.endswith(".lock")


def _entries(directory: Path) -> list[Path]:
    with suppress(OSError):
        return [directory / name for name in os.listdir(directory)]
    return []


def _staged(scratch: Path) -> Iterator[Path]:
    """The directory that a killed command was building, if it is still that very one."""
    noted = read_checked(scratch / STAGED)
    if noted is None:
        return
    device, inode, name = noted.split(b" ", 2)
    path = Path(os.fsdecode(name))
    # Its place may be gone, closed or something else by now.
    with suppress(OSError):
        found = path.lstat()
        if (found.st_dev, found.st_ino) == (int(device), int(inode)) and _STAGING.fullmatch(
            path.name
        ):
            yield path


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        delete(path)
    else:
        path.unlink(missing_ok=True)
