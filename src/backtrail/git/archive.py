"""A directory or an archive that appears whole, under a name that nobody has, or not at all."""

from __future__ import annotations

import os
import tarfile
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backtrail.domain.errors import FailedError, RefusedError
from backtrail.git.aside import delete
from backtrail.git.durable import fsync_directory, fsync_file, fsync_tree

if TYPE_CHECKING:
    from collections.abc import Generator

Mode = Literal["w", "w:gz"]
_SUFFIXES: dict[str, Mode] = {".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz"}
_NOBODY = {"uid": 0, "gid": 0, "uname": "", "gname": ""}


def archive_mode(target: Path) -> Mode | None:
    """How a file of that name is packed; None for a directory."""
    return next((mode for end, mode in _SUFFIXES.items() if target.name.endswith(end)), None)


def refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        raise RefusedError(
            f"{str(target)!r} is already there: nothing is overwritten",
            hint="give a name that is free",
        )
    if not target.parent.is_dir():
        raise FailedError(
            f"there is no directory {str(target.parent)!r}", hint="make it first: mkdir -p"
        )


@contextmanager
def new_directory(target: Path) -> Generator[Path]:
    """A directory to be filled, which then gets its name."""
    with _beside(target) as building:
        yield building
        building.chmod(0o777 & ~_umask())
        fsync_tree(building)
        # A rename never replaces a file, a link or a directory that holds something.
        building.rename(target)
    fsync_directory(target.parent)


@contextmanager
def _beside(target: Path) -> Generator[Path]:
    building = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield building
    finally:
        delete(building)


def pack(source: Path, target: Path, mode: Mode, moment: int) -> None:
    """Pack a directory's contents; owners are left out, and dates are those of the checkpoint."""

    def settled(member: tarfile.TarInfo) -> tarfile.TarInfo:
        for name, value in {**_NOBODY, "mtime": moment}.items():
            setattr(member, name, value)
        return member

    with _beside(target) as building:
        half = building / "archive"
        with tarfile.open(half, mode, format=tarfile.PAX_FORMAT) as archive:
            for entry in sorted(source.iterdir()):
                archive.add(entry, arcname=entry.name, filter=settled)
        half.chmod(0o666 & ~_umask())
        fsync_file(half)
        try:
            os.link(half, target)
        except FileExistsError:
            refuse_existing(target)
            raise
    fsync_directory(target.parent)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
