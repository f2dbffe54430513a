"""What a restore would destroy although no snapshot holds it: ignored files in the way.

Three ways are known in which a restore destroys, with return code 0, what the ignore rules kept
out of the safety checkpoint: a file that the target has and that is ignored now, a directory with
ignored files (or with nothing) in the place of one of the target's files, and an ignored file in
the place of one of its directories. Included ignored files of the target are such files, too.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.errors import GitFailedError, RefusedError
from backtrail.domain.ids import TreeId
from backtrail.git.ignore.eligibility import NESTED, SPECIAL, UNREADABLE, UNSTEADY
from backtrail.git.osfiles.beneath import Beneath
from backtrail.git.osfiles.paths import first_obstacle, lstat_inside
from backtrail.git.store.objects import start_directories
from backtrail.git.store.store import PrivateStore

_IN_WORDS = {
    UNREADABLE: "it cannot be read",
    SPECIAL: "it is neither a file nor a link",
    NESTED: "it is a git repository",
}
_SINCE = frozenset({NESTED, UNSTEADY})
_MOVE = "move it out of the sandbox"
_HINTS = {
    UNREADABLE: f"make it and the directories above it readable (chmod), or {_MOVE},",
}


@dataclass(frozen=True, slots=True)
class Replacing:
    """What is about to be written over a sandbox."""

    trees: tuple[TreeId, ...] = ()
    bare_directories: tuple[bytes, ...] = ()
    """Directories that come without a captured file in them."""
    absent_directories: tuple[bytes, ...] = ()
    """Directories that go, if they are there."""
    included: tuple[bytes, ...] = ()
    """Included ignored files that come."""
    going: tuple[bytes, ...] = ()
    """Included ignored files that go, where they are there."""
    accounted: tuple[TreeId, ...] = ()
    """Trees of which the target is known to have lacked what it does not have."""
    branches: tuple[str, ...] = ()
    """Branches, by their full names, that are moved."""

    def __add__(self, other: Replacing) -> Replacing:
        both = zip(astuple(self), astuple(other), strict=True)
        return Replacing(*(mine + others for mine, others in both))


@dataclass(frozen=True, slots=True)
class InTheWay:
    """What is on disk where something else comes back."""

    files: tuple[bytes, ...] = ()
    empty_directories: tuple[bytes, ...] = ()
    """Without a slash. That no rule keeps them out of a checkpoint is not certain."""
    included: tuple[bytes, ...] = ()
    """Included ignored files: in the way like others, and kept apart from them."""

    def with_included_apart(self, included: Collection[bytes]) -> InTheWay:
        """The same, with included files apart from the others."""
        return replace(
            self,
            files=tuple(path for path in self.files if path not in included),
            included=tuple(path for path in self.files if path in included),
        )


def replaced_paths(
    store: PrivateStore, root: Path, captured: TreeId, replacing: Replacing
) -> InTheWay:
    """What is on disk, is not in the captured tree, and would be replaced.

    An included file in the place of itself is not among it: it is captured with its like.
    """
    found: dict[bytes, None] = {}
    for target in replacing.trees:
        output = store.git().call(
            "diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=AT",
            captured, target,
        )  # fmt: skip
        for path in output.records():
            found.update(dict.fromkeys(_in_the_way(root, path)))
    for path in replacing.included:
        found.update(dict.fromkeys(p for p in _in_the_way(root, path) if p != path))
    for directory in replacing.bare_directories:
        found.update(dict.fromkeys(_in_the_way(root, directory + b"/")))
    for path in _known_absent(store, replacing):
        found.update(dict.fromkeys(_in_the_way(root, path)))
    return InTheWay(
        files=tuple(path for path in found if not path.endswith(b"/")),
        empty_directories=tuple(path[:-1] for path in found if path.endswith(b"/")),
    )


def coming_directories(store: PrivateStore, replacing: Replacing) -> frozenset[bytes]:
    """The directories of all that is about to be written."""
    listings = [start_directories(store, tree) for tree in replacing.trees]
    return frozenset(d for listing in listings for d in listing.finish().checked().records())


def _known_absent(store: PrivateStore, replacing: Replacing) -> list[bytes]:
    """What was looked for when the target was captured, and was not there: it goes again."""
    git, found = store.git(), list[bytes]()
    for looked_for in replacing.accounted:
        for target in replacing.trees:
            gone = ("diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=D")
            found += git.call(*gone, looked_for, target).records()
    return found


def refuse_unsaved(not_captured: Mapping[bytes, NotCaptured], demanded: Iterable[bytes]) -> None:
    """Refuse to go on if something that would be replaced could not be captured."""
    for path in demanded:
        note = not_captured.get(path)
        if note is not None:
            # No directory is demanded: it has become one since.
            raise _unsteady(path) if note.reason in _SINCE else _refusal(path, note.reason)


def _in_the_way(root: Path, path: bytes) -> list[bytes]:
    """What is at a path or above it; only above it, if it ends in a slash."""
    try:
        obstacle = first_obstacle(root, path)
        if obstacle is not None:
            return [_capturable(root, obstacle)]
        found = None if path.endswith(b"/") else lstat_inside(root, path)
        if found is None:
            return []
        return _all_below(root, path) if stat.S_ISDIR(found.st_mode) else [_capturable(root, path)]
    except PermissionError as error:
        raise _refusal(path.rstrip(b"/"), UNREADABLE) from error


def _all_below(root: Path, directory: bytes) -> list[bytes]:
    """The files at any depth, and the empty directories with a slash."""
    found: list[bytes] = []
    waiting = [directory]
    while waiting:
        place = waiting.pop()
        entries = _entries(root, place)
        if not entries:
            found.append(place + b"/")
        for name, is_directory in entries:
            path = place + b"/" + os.fsencode(name)
            if name == ".git":
                raise _refusal(place, NESTED)
            if is_directory:
                waiting.append(path)
            else:
                found.append(_capturable(root, path))
    return found


def _entries(root: Path, directory: bytes) -> list[tuple[str, bool]]:
    try:
        with Beneath(root) as inside, inside.scan(directory) as entries:
            # Asked while the directory is open: not every file system tells kinds with names.
            return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except PermissionError:
        raise _refusal(directory, UNREADABLE) from None
    except (FileNotFoundError, NotADirectoryError):
        raise _unsteady(directory) from None


def _capturable(root: Path, path: bytes) -> bytes:
    found = lstat_inside(root, path)
    if found and stat.S_ISDIR(found.st_mode):
        raise _unsteady(path)
    if found and not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
        raise _refusal(path, SPECIAL)
    return path


def _unsteady(path: bytes) -> GitFailedError:
    shown = os.fsdecode(path)
    return GitFailedError(
        f"{shown!r} kept changing while it was to be saved, and is in the way of what comes back",
        hint="end what works in the sandbox and try again",
        details={"path": shown},
    )


def _refusal(path: bytes, reason: str) -> RefusedError:
    shown, why = os.fsdecode(path), _IN_WORDS.get(reason, reason)
    return RefusedError(
        f"{shown!r} is in the way of what would come back and cannot be saved first: {why}",
        hint=f"{_HINTS.get(reason, _MOVE)} and try again",
        details={"path": shown},
    )
