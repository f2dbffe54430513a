"""The writer: everything that a restore does to the directories and files of a sandbox.

It works through descriptors of directories that were opened beneath the sandbox's root without
following a link, never by a path: whoever exchanges a directory for a link meanwhile makes a
restore fail, and leads it nowhere. Git writes what comes into a private staging place, from where
it is moved in whole, with its mode, and never over anything. What goes is moved aside first, looked
at there, and deleted only if it is what the safety checkpoint holds.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from backtrail.domain.failpoints import Failpoints
from backtrail.git.osfiles.beneath import PERMISSIONS, Beneath, parents_of
from backtrail.git.osfiles.moving import can_rename, copy_entry, move_where_free
from backtrail.git.process.runner import nul_joined
from backtrail.git.restore.staging import Staging, has_content
from backtrail.git.restore.switch import changed_meanwhile, errors_about
from backtrail.git.store.objects import Change, TreeEntry
from backtrail.git.store.store import PrivateStore

# File systems may date by the second, and never finer than by the clock's tick.
_TOO_YOUNG_NS = 2_000_000_000


@dataclass(slots=True)
class Look:
    """What was at the paths of some changes before git compared them with what it knows."""

    began_ns: int
    found: dict[bytes, os.stat_result | None]


@dataclass(slots=True)
class Writer:
    """Changes one sandbox, opened for as long as a restore takes."""

    store: PrivateStore
    inside: Beneath
    staging: Staging
    mode_of: Callable[[TreeEntry], int]
    """The permission bits that a file is to have."""
    failpoints: Failpoints
    placed: dict[bytes, os.stat_result] = field(default_factory=dict[bytes, os.stat_result])
    """What has come, as it was right afterwards."""
    _near: dict[bytes, bool] = field(default_factory=dict[bytes, bool])

    def look(self, paths: Iterable[bytes]) -> Look:
        """Look at some paths; whoever then finds content to be right can have them changed."""
        began = time.time_ns()
        return Look(began, {path: self.inside.lstat(path) for path in sorted(paths)})

    def change(
        self,
        changes: Sequence[Change],
        look: Look,
        index: Path,
        staying: Callable[[set[bytes]], Collection[bytes]] = lambda emptied: emptied,
    ) -> None:
        """Make the changes, unless something is not as it was when it was looked at.

        The index has what comes. Directories that become empty are removed, but those of them that
        are `staying`.
        """
        if not changes:
            return
        self._refuse_in_the_way(changes, look)
        leaving = [c for c in changes if c.old is not None and look.found[c.path] is not None]
        coming = [c.new for c in changes if c.new is not None]
        lot = self.staging.next_lot([c.path for c in leaving])
        if coming:
            # Git writes in a private place alone.
            git, paths = self.store.git(lot.new, index), [entry.path for entry in coming]
            git.call("checkout-index", "-z", "--stdin", stdin=nul_joined(paths))
        self.failpoints.reach("rollback.staged")
        with Beneath(lot.old) as aside, Beneath(lot.new) as new:
            for number, change in enumerate(leaving):
                self._take_away(aside.directory(b""), number, change, look)
            self.failpoints.reach("rollback.taken_away")
            self._remove_emptied(changes, staying)
            for number, entry in enumerate(coming):
                self._bring(new, number, entry)

    def _refuse_in_the_way(self, changes: Sequence[Change], look: Look) -> None:
        """Refuse what can be refused before anything has changed."""
        going = {c.path for c in changes if c.old is not None}
        for change in changes:
            found = look.found[change.path]
            if found is None:
                continue
            if not stat.S_ISDIR(found.st_mode):
                in_the_way = change.old is None
            else:
                in_the_way = self._holds_others(change.path, going)
            if in_the_way:
                raise changed_meanwhile([change.path])

    def _holds_others(self, directory: bytes, going: Collection[bytes]) -> bool:
        """Whether a directory holds files that do not go."""
        waiting = [directory]
        while waiting:
            above = waiting.pop()
            with errors_about(above), self.inside.scan(above) as entries:
                for entry in entries:
                    path = os.path.join(above, os.fsencode(entry.name))
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(path)
                    elif path not in going:
                        return True
        return False

    def _take_away(self, aside: int, number: int, change: Change, look: Look) -> None:
        """Move what is there aside, and delete it if it is still what was looked at."""
        path, was = change.path, look.found[change.path]
        with errors_about(path):
            directory, name = self.inside.above(path)
            here = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if was is None or _marks(here) != _marks(was):
                raise changed_meanwhile([path])
            held, kept = self._place_for(path, directory, aside, number)
            os.rename(name, kept, src_dir_fd=directory, dst_dir_fd=held)
            if number == 0:
                self.failpoints.reach("rollback.moved_aside")
            # What has another name as well may change by that one.
            sure = here.st_ctime_ns == was.st_ctime_ns < look.began_ns - _TOO_YOUNG_NS
            sure = sure and was.st_nlink == 1
            there = os.stat(kept, dir_fd=held, follow_symlinks=False)
            if _marks(there) != _marks(was) or not (sure or has_content(held, kept, change.old)):
                move_where_free(kept, name, source_directory=held, target_directory=directory)
                raise changed_meanwhile([path])
            os.unlink(kept, dir_fd=held)

    def _place_for(
        self, path: bytes, directory: int, staging: int, number: int
    ) -> tuple[int, bytes]:
        """A directory that can be renamed from and to, and a name that is free in it.

        Where something else is mounted in the sandbox, that is the directory itself.
        """
        parent = path.rpartition(b"/")[0]
        if parent not in self._near:
            self._near[parent] = can_rename(staging, directory)
        if self._near[parent]:
            return staging, b"%d" % number
        return directory, b".backtrail-%d" % number

    def _remove_emptied(
        self, changes: Sequence[Change], staying: Callable[[set[bytes]], Collection[bytes]]
    ) -> None:
        """Remove directories of which all files go, but those that stay in one that stays."""
        filled = {p for c in changes if c.new is not None for p in parents_of(c.path)}
        above = {p for c in changes if c.new is None for p in parents_of(c.path)} - filled
        emptied: set[bytes] = set()
        for directory in sorted(above, reverse=True):
            if self._holds_nothing_but(emptied, directory):
                emptied.add(directory)
        stay = set(staying(emptied)) if emptied else set[bytes]()
        for directory in sorted(emptied, reverse=True):
            if not all(p in stay for p in (*parents_of(directory), directory) if p in emptied):
                self.inside.remove_directory(directory)

    def _holds_nothing_but(self, emptied: Collection[bytes], directory: bytes) -> bool:
        try:
            with self.inside.scan(directory) as entries:
                return all(os.path.join(directory, os.fsencode(e.name)) in emptied for e in entries)
        except PermissionError:
            # It is not removed if anything is in it.
            return True
        except OSError:
            # Gone, or not what it was.
            return False

    def _bring(self, new: Beneath, number: int, entry: TreeEntry) -> None:
        """Move what has come into its place, where nothing may be."""
        path, mode = entry.path, self.mode_of(entry)
        with errors_about(path):
            source, staged = new.above(path)
            directory, name = self.inside.make_directory(path.rpartition(b"/")[0]), staged
            held, free = self._place_for(path, directory, source, number)
            ready = os.stat(staged, dir_fd=source, follow_symlinks=False)
            if stat.S_ISREG(ready.st_mode) and ready.st_mode & PERMISSIONS != mode:
                os.chmod(staged, mode, dir_fd=source)
            if held != source:
                copy_entry(staged, free, source_directory=source, target_directory=held)
                source, staged = held, free
                ready = os.stat(staged, dir_fd=source, follow_symlinks=False)
            move_where_free(staged, name, source_directory=source, target_directory=directory)
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if _marks(found)[:-1] == _marks(ready)[:-1]:
                self.placed[path] = found
        if number == 0:
            self.failpoints.reach("rollback.half_written")


def _marks(found: os.stat_result) -> tuple[int, ...]:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode
