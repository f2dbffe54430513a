"""Bringing back what a tree cannot hold: permission bits, empty directories, hard links.

To change those of one name would change a file outside the sandbox, or another one in it. A file
that is to have other bits than it has becomes one of its own first, with the same content.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backtrail.git.capture.storing import take_in
from backtrail.git.metadata.model import Extras
from backtrail.git.osfiles.beneath import PERMISSIONS, Beneath, parents_of
from backtrail.git.restore.switch import changed_meanwhile, errors_about
from backtrail.git.restore.writer import Writer
from backtrail.git.store.objects import Change, TreeEntry
from backtrail.git.store.store import PrivateStore, scratch_directory


def part_hard_links(
    store: PrivateStore, root: Path, writer: Writer, files: Iterable[TreeEntry]
) -> None:
    """Write those of the files anew that have other names, too, and not the goal's mode."""
    look = writer.look(entry.path for entry in files if entry.path not in writer.placed)
    shared = [e for e in files if _is_shared(look.found.get(e.path), writer.mode_of(e))]
    if not shared:
        return
    with scratch_directory(store) as scratch:
        index = scratch / "index"
        git = store.git(root, index)
        take_in(git, root, [entry.path for entry in shared])
        lines = [b"%s %s 0\t%s" % entry for entry in shared]
        found = set(git.call("ls-files", "-s", "-z").records())
        changed = [e.path for e, line in zip(shared, lines, strict=True) if line not in found]
        if changed:
            raise changed_meanwhile(changed)
        writer.change([Change(entry.path, entry, entry) for entry in shared], look, index)


def _is_shared(found: os.stat_result | None, wanted: int) -> bool:
    if found is None or not stat.S_ISREG(found.st_mode) or found.st_nlink == 1:
        return False
    return found.st_mode & PERMISSIONS != wanted


_OWNER_MAY_CHANGE = 0o300


@dataclass(frozen=True, slots=True)
class ExtrasPlan:
    """What a restore does besides writing and removing files."""

    files: tuple[TreeEntry, ...]
    """Files whose mode has to be looked at: written anew, or of another mode."""
    directories: tuple[bytes, ...]
    """All directories that the goal has, outermost first."""
    changed: tuple[bytes, ...]
    """Files and directories (with a slash) of which only the mode differs."""
    appearing: tuple[bytes, ...]
    """Empty directories that come back, with a slash."""
    vanishing: tuple[bytes, ...]
    """Empty directories that the goal does not have, with a slash."""
    staying: Mapping[bytes, int]
    """Directories that the goal does not have; of those that stay all the same, the modes."""


def plan_extras(
    now: Extras,
    directories: Iterable[bytes],
    goal: Extras,
    before: Extras,
    entries: Sequence[TreeEntry],
    written: set[bytes],
) -> ExtrasPlan:
    """Compare the extras and directories of the present with those of the goal and its files.

    Those from `before` a restore say what a directory had that is in neither.
    """
    wanted = directories_and_root([e.path for e in entries], goal)
    present = {*directories, *directories_and_root((), now)}
    # Where different modes are usual, that of any file can differ.
    noted = {os.fsencode(path) for path in (*now.file_modes, *goal.file_modes)}
    odd = noted if now.usual == goal.usual else None
    looked_at = entries if odd is None else [e for e in entries if e[2] in written or e[2] in odd]
    files = [e for e in looked_at if e.is_file and (e.path in written or _differs(e, now, goal))]
    common = ((d, os.fsdecode(d)) for d in wanted & present)
    modes = [d for d, name in common if now.directory_mode(name) != goal.directory_mode(name)]
    empty = set(map(os.fsencode, goal.empty_directories))
    return ExtrasPlan(
        files=tuple(files),
        directories=tuple(sorted(wanted)),
        changed=(*(e.path for e in files if e.path not in written), *map(with_slash, modes)),
        appearing=tuple(d + b"/" for d in sorted(empty - present)),
        vanishing=tuple(
            d + b"/" for d in sorted(map(os.fsencode, now.empty_directories)) if d not in wanted
        ),
        staying=_staying(before, present, wanted),
    )


def _staying(before: Extras, present: set[bytes], wanted: set[bytes]) -> dict[bytes, int]:
    """What an interrupted attempt has emptied shows only by a mode that is not usual."""
    others = (present | set(map(os.fsencode, before.directory_modes))) - wanted
    return {directory: before.directory_mode(os.fsdecode(directory)) for directory in others}


def _differs(entry: TreeEntry, now: Extras, goal: Extras) -> bool:
    name, mode = os.fsdecode(entry.path), entry.mode_bits
    return now.file_mode(name, mode) != goal.file_mode(name, mode)


def directories_of(files: Iterable[bytes], extras: Extras) -> set[bytes]:
    """All directories of a state: those that hold files, and the bare ones."""
    bare = list(map(os.fsencode, extras.bare_directories))
    found = set(bare)
    for path in {path.rpartition(b"/")[0] for path in (*files, *bare)}:
        parent = path
        while parent and parent not in found:
            found.add(parent)
            parent = parent.rpartition(b"/")[0]
    return found


def directories_and_root(files: Iterable[bytes], extras: Extras) -> set[bytes]:
    """The same and, with an empty name, the root if its mode is known."""
    root = {b""} if extras.knows_root else set[bytes]()
    return directories_of(files, extras) | root


def with_slash(directory: bytes) -> bytes:
    """A directory as it is shown."""
    return (directory or b".") + b"/"


def make_way(inside: Beneath, changes: Iterable[bytes]) -> None:
    """Let the owner change directories in which something will be written or removed."""
    for directory in sorted({d for path in changes for d in (b"", *parents_of(path))}):
        found = inside.lstat(directory)
        if found is not None and found.st_mode & _OWNER_MAY_CHANGE != _OWNER_MAY_CHANGE:
            mode = found.st_mode & PERMISSIONS | stat.S_IRWXU
            with errors_about(directory):
                inside.set_mode(directory, mode, stat.S_ISDIR)


def clear_away(inside: Beneath, plan: ExtrasPlan) -> None:
    """Remove empty directories that the goal does not have, and their parents if those are bare."""
    wanted = set(plan.directories)
    for directory in sorted((d.rstrip(b"/") for d in plan.vanishing), reverse=True):
        while directory and directory not in wanted and inside.remove_directory(directory):
            directory = directory.rpartition(b"/")[0]  # noqa: PLW2901 - climbs towards the root


def make_bare_directories(inside: Beneath, goal: Extras) -> None:
    for path in map(os.fsencode, goal.bare_directories):
        # Never through a link. Where something is in the way the proof says so.
        with suppress(NotADirectoryError):
            inside.make_directory(path)


def apply_modes(
    inside: Beneath, goal: Extras, plan: ExtrasPlan, ready: Container[bytes] = ()
) -> None:
    """Give files, then directories from the innermost outwards, the goal's permission bits.

    Files that were written with them are `ready`.
    """
    for entry in plan.files:
        if entry.path not in ready:
            mode = goal.file_mode(os.fsdecode(entry.path), entry.mode_bits)
            with errors_about(entry.path):
                inside.set_mode(entry.path, mode, stat.S_ISREG)
    wanted = {d: goal.directory_mode(os.fsdecode(d)) for d in plan.directories}
    for directory, mode in sorted((wanted | dict(plan.staying)).items(), reverse=True):
        with errors_about(directory):
            inside.set_mode(directory, mode, stat.S_ISDIR)
