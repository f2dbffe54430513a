"""Listing what a working index does not hold: new files, nested repositories, bare directories.

`ls-files --directory` names a directory without entries in the index as one. Only such ones are
looked into again, so that a sandbox without new directories costs a single listing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from backtrail.git.ignore.evaluate import ignored_here
from backtrail.git.ignore.ignored import Ignored
from backtrail.git.ignore.listing import (
    UNTRACKED,
    Listing,
    only_below,
    start_listing_others,
    take_for_directories,
)
from backtrail.git.ignore.rules import IgnoreRules
from backtrail.git.osfiles.beneath import parents_of
from backtrail.git.process.runner import GitRunner
from backtrail.git.process.stderr import Complaints, really_named, understood
from backtrail.git.store.index import copied
from backtrail.git.store.store import PrivateStore, scratch_directory

_CAPITALS_COUNT = ("-c", "core.ignoreCase=false")
_IGNORED = (*UNTRACKED, "-i", "--directory")
_OTHER = b"? "


@dataclass(frozen=True, slots=True)
class Untracked:
    """What is on disk, is not ignored and is not in the index."""

    files: tuple[bytes, ...] = ()
    """Files and links, those of nested repositories included."""
    directories: tuple[bytes, ...] = ()
    """Directories that hold no entry of the index: new ones, empty ones, and repositories."""
    repositories: tuple[bytes, ...] = ()
    """Nested repositories that are new to the index."""
    unreadable: tuple[bytes, ...] = ()
    """Directories that cannot be opened, and .gitignore files that cannot be read."""
    vanished: tuple[bytes, ...] = ()
    """Directories that were there and, a moment later, were not: what is missing of them may have
    come up elsewhere, unseen."""


@dataclass(frozen=True, slots=True)
class Lister:
    """Lists under one set of ignore rules; a directory is named without its last slash."""

    store: PrivateStore
    git: GitRunner
    root: Path
    rules: IgnoreRules
    words: Sequence[str]
    """Arguments under which git follows the rules."""

    def ask(self, *words: str, index: Mapping[str, str] | None = None) -> Listing:
        """Begin a listing of any kind."""
        return start_listing_others(self.store, self.git, self.root, *words, index=index)

    def start(self) -> Listing:
        return self._asked("--directory")

    def finish(self, running: Listing) -> Untracked:
        """Complete a listing, looking into what it only names."""
        records, closed = self._understood(running, "--directory")
        directories, files = _apart(records)
        repositories: list[bytes] = []
        if directories:
            repositories, inside, more = self._inside(directories)
            files += inside
            closed += more
        return Untracked(
            files=tuple(dict.fromkeys(files)),
            directories=_bare(directories),
            repositories=_bare(repositories),
            unreadable=tuple(dict.fromkeys((*closed.directories, *closed.rules_files))),
            vanished=tuple(dict.fromkeys(closed.vanished)),
        )

    def list(self) -> Untracked:
        return self.finish(self.start())

    def start_ignored(self) -> Listing:
        """Begin to list what is ignored, in the index or not, with a tag that tells which."""
        return self.ask(*self.words, *_IGNORED, "-c", "-t")

    def finish_ignored(self, running: Listing) -> tuple[set[bytes], Ignored]:
        """What the index holds although it is ignored, and what is in no index."""
        held: set[bytes] = set()
        others: list[bytes] = []
        for record in _tolerated(running):
            if record.startswith(_OTHER):
                others.append(record[len(_OTHER) :])
            else:
                held.add(record[len(_OTHER) :])
        return held, Ignored(tuple(others))

    def ignored(self, repositories: Sequence[bytes] = ()) -> Ignored:
        """What is ignored and not in the index as it is now."""
        with scratch_directory(self.store) as directory:
            index: dict[str, str] | None = None
            if repositories:
                # Of a repository without captured files git would not look at what is in it.
                index = {"GIT_INDEX_FILE": str(copied(self.git, directory / "index"))}
                take_for_directories(self.git, [path + b"/" for path in repositories], index)
            return Ignored(tuple(_tolerated(self.ask(*self.words, *_IGNORED, index=index))))

    def without_entries(self, directories: Sequence[bytes]) -> list[bytes]:
        """Directories at or below these that hold no entry of the index as it is now."""
        words = ("--directory", *only_below([d + b"/" for d in directories]))
        records, _ = self._understood(self._asked(*words), *words)
        return list(_bare(_apart(records)[0]))

    def _inside(self, below: list[bytes]) -> tuple[list[bytes], list[bytes], Complaints]:
        """Repositories at any depth, and the files of all as far as ignore rules allow."""
        repositories: list[bytes] = []
        files: list[bytes] = []
        closed, index = Complaints(), None
        with scratch_directory(self.store) as directory:
            while below:
                words = only_below(below)
                records, more = self._understood(self._asked(*words, index=index), *words)
                closed += more
                below, plain = _apart(records)
                files += plain
                if below:
                    # In an index of its own git takes these for directories from here on.
                    index = index or {"GIT_INDEX_FILE": str(copied(self.git, directory / "index"))}
                    take_for_directories(self.git, below, index)
                    repositories += below
        return repositories, files, closed

    def _understood(self, listing: Listing, *more: str) -> tuple[list[bytes], Complaints]:
        """The records of a listing with `more` words, and what git said it could not read."""
        records, closed = self._readable(listing)
        return self._by_any_case(records, *more, index=listing.index), closed

    def _by_any_case(
        self, records: list[bytes], *more: str, index: Mapping[str, str] | None
    ) -> list[bytes]:
        """The records that rules do not ignore either for which capitals make no difference.

        Git would also take names that differ in capitals for the same, so what it passes over
        then is not all ignored: each is judged by itself.
        """
        if not self.rules.ignore_case:
            return records
        words = (*self.words, *UNTRACKED, *more)
        shown = set(self._readable(self.ask(*words, index=index))[0])
        hidden = [record for record in records if record not in shown]
        ignored = ignored_here(self.store, self.root, self.rules, hidden)
        return [record for record in records if record not in ignored]

    def _readable(self, listing: Listing) -> tuple[list[bytes], Complaints]:
        """The records, and what git said it could not read."""
        rest, found = understood(listing.finish())
        root = os.fsencode(self.root)
        rules = (path for path in found.rules_files if os.path.lexists(os.path.join(root, path)))
        closed = (really_named(self.root, path) for path in found.directories)
        records = rest.checked().records()
        unread = replace(found, directories=tuple(closed), rules_files=tuple(rules))
        return records + self._unasked(listing, records), unread

    def _unasked(self, listing: Listing, records: list[bytes]) -> list[bytes]:
        """Repositories in which nothing was listed: git would have named them at least."""
        if not listing.unasked:
            return []
        held = self.git.call("ls-files", "-c", "-z", extra=listing.index).records()
        known = {parent + b"/" for path in (*held, *records) for parent in parents_of(path)}
        bare = [d for d in listing.unasked if d not in known and listing.covers(d)]
        ignored = ignored_here(self.store, self.root, self.rules, bare)
        return [d for d in bare if d not in ignored]

    def _asked(self, *more: str, index: Mapping[str, str] | None = None) -> Listing:
        return self.ask(*self.words, *_CAPITALS_COUNT, *UNTRACKED, *more, index=index)


def _tolerated(listing: Listing) -> list[bytes]:
    """The records of a listing, as far as git could look."""
    return understood(listing.finish())[0].checked().records()


def _apart(records: Sequence[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Directories, each with a slash, and files."""
    directories = [record for record in records if record.endswith(b"/")]
    return directories, [record for record in records if not record.endswith(b"/")]


def _bare(directories: Sequence[bytes]) -> tuple[bytes, ...]:
    return tuple(d.rstrip(b"/") for d in directories)
