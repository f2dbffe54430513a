"""Walking, making and deleting directories as deep as they go.

Whoever works in a sandbox chooses how deep it is: nothing here calls itself, and a path may be
longer than the system takes.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from typing import TYPE_CHECKING

from backtrail.git.beneath import Beneath

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Walked = tuple[bytes, list[os.DirEntry[bytes]]]


def walk(root: Path, below: bytes = b"", *, passing: bytes = b".git") -> Iterator[Walked]:
    """Each directory below the root that can be read, by its path, with what is in it.

    Links are not followed, and what is in a directory named `.git` is passed over.
    """
    waiting = [below]
    while waiting:
        directory = waiting.pop()
        entries = entries_of(root, directory)
        if entries is not None:
            yield directory, entries
            inner = (e for e in entries if e.name != passing and e.is_dir(follow_symlinks=False))
            waiting += [os.path.join(directory, entry.name) for entry in inner]


def walk_all(root: Path, below: bytes = b"") -> Iterator[Walked]:
    """The same, with what is in `.git`."""
    return walk(root, below, passing=b"")


def entries_of(root: Path, directory: bytes) -> list[os.DirEntry[bytes]] | None:
    """What is in a directory below the root; None if it is gone or cannot be read."""
    try:
        with os.scandir(os.path.join(os.fsencode(root), directory)) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return None


def make_directories(path: bytes) -> None:
    """Make a directory and those above it, as far as they are not there."""
    missing = [path]
    while missing:
        try:
            os.mkdir(missing[-1])
        except FileExistsError:
            pass
        except FileNotFoundError:
            missing.append(os.path.dirname(missing[-1]))
            continue
        missing.pop()


def delete_tree(root: Path) -> None:
    """Delete a directory with all that is in it, closed directories, too; links stay links.

    A directory in it is first moved up to its top, so that no path gets any longer.
    """
    prefix, count, waiting = secrets.token_hex(8), 0, [b""]
    with Beneath(root) as inside:
        while waiting:
            place = waiting.pop()
            inside.set_mode(place, stat.S_IRWXU, stat.S_ISDIR)
            with inside.scan(place) as entries:
                for name in (os.fsencode(entry.name) for entry in entries):
                    kind = inside.lstat(os.path.join(place, name))
                    directory, top = inside.directory(place), inside.directory(b"")
                    if kind is None or not stat.S_ISDIR(kind.st_mode):
                        os.unlink(name, dir_fd=directory)
                        continue
                    inside.set_mode(os.path.join(place, name), stat.S_IRWXU, stat.S_ISDIR)
                    count += 1
                    here = b".%s-%d" % (prefix.encode(), count)
                    directory = inside.directory(place)
                    os.rename(name, here, src_dir_fd=directory, dst_dir_fd=top)
                    waiting.append(here)
            if place:
                inside.remove_directory(place)
    root.rmdir()
