"""A checkpoint's files written elsewhere: a directory or archive that appears whole or not."""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from backtrail.domain.errors import FailedError, RefusedError
from backtrail.git.checkpoint.state import Captured
from backtrail.git.osfiles.beneath import Beneath
from backtrail.git.osfiles.durable import fsync_directory, fsync_file, fsync_tree
from backtrail.git.osfiles.moving import can_rename
from backtrail.git.osfiles.walk import walk_all
from backtrail.git.restore.metadata import (
    ExtrasPlan,
    apply_modes,
    directories_of,
    make_bare_directories,
)
from backtrail.git.store.objects import list_tree
from backtrail.git.store.presence import note_staging
from backtrail.git.store.set_aside import delete
from backtrail.git.store.store import PrivateStore, scratch_directory

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
def new_directory(store: PrivateStore, target: Path, scratch: Path) -> Generator[Path]:
    """A directory to be filled where nobody else is at work, which then gets its name.

    The scratch directory remembers where it is made, should the command be killed.
    """
    above = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        store.layout.staging.mkdir(mode=0o700, exist_ok=True)
        with Beneath(store.layout.staging) as own:
            near = can_rename(own.directory(b""), above)
        place = store.layout.staging if near else target.parent
        with _building(target, place, scratch) as building:
            yield building
            building.chmod(0o777 & ~_umask())
            fsync_tree(building)
            # A rename never replaces a file, a link or a directory that holds something.
            os.rename(building, target.name, dst_dir_fd=above)
            os.fsync(above)
    finally:
        os.close(above)


@contextmanager
def _building(target: Path, place: Path, scratch: Path) -> Generator[Path]:
    building = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=place))
    try:
        note_staging(scratch, building)
        yield building
    finally:
        delete(building)


def pack(source: Path, target: Path, mode: Mode, moment: int, scratch: Path) -> None:
    """Pack a directory's contents; owners are left out, and dates are those of the checkpoint."""

    def settled(member: tarfile.TarInfo) -> tarfile.TarInfo:
        for name, value in {**_NOBODY, "mtime": moment}.items():
            setattr(member, name, value)
        return member

    with _building(target, target.parent, scratch) as building:
        half = building / "archive"
        with tarfile.open(half, mode, format=tarfile.PAX_FORMAT) as archive:
            found = (entry.path for _, entries in walk_all(source) for entry in entries)
            for path in sorted(map(os.fsdecode, found)):
                name = os.path.relpath(path, source)
                archive.add(path, arcname=name, recursive=False, filter=settled)
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


def materialize(store: PrivateStore, captured: Captured, root: Path, *, ignored: bool) -> int:
    """Write a captured state below a directory; gives the number of files and links."""
    included = captured.state.included.tree
    # Of a directory with ignored files alone nothing is written, so it would be an empty one.
    extras = replace(captured.state.extras, standing={})
    trees = [captured.tree, *([included] if ignored and included else [])]
    entries = [entry for tree in trees for entry in list_tree(store, tree)]
    with scratch_directory(store) as directory:
        for number, tree in enumerate(trees):
            git = store.git(root, directory / f"index{number}")
            git.call("read-tree", tree)
            git.call("checkout-index", "--all")
    plan = ExtrasPlan(
        files=tuple(entry for entry in entries if entry.is_file),
        directories=tuple(sorted(directories_of([entry.path for entry in entries], extras))),
        changed=(),
        appearing=(),
        vanishing=(),
        staying={},
    )
    with Beneath(root) as inside:
        make_bare_directories(inside, extras)
        apply_modes(inside, extras, plan)
    return len(entries)
