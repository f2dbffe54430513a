"""Which ignored files the patterns of `include_ignored` choose: git itself is asked."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.git.complaints import really_named, understood
from backtrail.git.ignore import scratch_directory
from backtrail.git.judging import laid_out, rules_above, rules_of
from backtrail.git.paths import (
    is_directory_inside,
    is_special,
    is_special_inside,
    is_there,
    parents_of,
)
from backtrail.git.private_index import copied
from backtrail.git.probes import UNTRACKED, only_below, take_for_directories

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from backtrail.git.ignore import IgnoreRules
    from backtrail.git.runner import GitRunner
    from backtrail.git.store import PrivateStore
    from backtrail.git.trees import TreeEntry

_GLOB = re.compile(r"[*?\[\\]")


@dataclass(frozen=True, slots=True)
class Chosen:
    """Ignored files that patterns choose, and directories in which none could be looked for."""

    files: tuple[bytes, ...] = ()
    unreadable: tuple[bytes, ...] = ()
    repositories: tuple[bytes, ...] = ()
    """Those that hold chosen files."""


def chosen_files(
    store: PrivateStore, git: GitRunner, root: Path, rules: Sequence[str], patterns: Sequence[str]
) -> Chosen:
    """Ignored files that match the patterns; `git` knows the captured files by its index.

    A name without a slash matches at any depth but in ignored directories, as in .gitignore; a
    path with one is looked for from the root, also where its directory is ignored. Repositories
    are directories like others.
    """
    if not patterns:
        return Chosen()
    found: dict[bytes, None] = {}
    closed: dict[bytes, None] = {}
    repositories: set[bytes] = set()
    with scratch_directory(store) as directory:
        for question in _questions(rules, patterns):
            listed = _Listed(git, root, question, directory / "index")
            found.update(dict.fromkeys(listed.files()))
            closed.update(dict.fromkeys(listed.closed))
            repositories |= listed.repositories
    holding = repositories and repositories & {d + b"/" for p in found for d in parents_of(p)}
    return Chosen(
        files=tuple(found),
        unreadable=tuple(really_named(root, path) for path in closed),
        repositories=tuple(path.rstrip(b"/") for path in sorted(holding)),
    )


def chosen_at(
    store: PrivateStore,
    files: Iterable[TreeEntry],
    rules: IgnoreRules,
    patterns: Sequence[str],
    candidates: Sequence[bytes],
) -> set[bytes]:
    """Those of the candidates that a checkpoint with these files would hold, had they been there.

    Either its rules do not ignore them, or the patterns choose them.
    """
    if not candidates:
        return set()
    return _chosen_among(store, rules_of(store, files, rules), rules, patterns, candidates)


def chosen_special_files(
    store: PrivateStore,
    root: Path,
    rules: IgnoreRules,
    patterns: Sequence[str],
    chosen: Chosen,
    known: Iterable[bytes],
) -> set[bytes]:
    """FIFOs and the like that patterns choose, of which git itself does not speak.

    Looked for are those that are `known` to be ignored, those beside chosen files, those that
    patterns name, and those below a directory that one names in full, or right in the one before
    its first wild card.
    """
    if not patterns:
        return set()
    places = {path.rpartition(b"/")[0] for path in chosen.files}
    candidates = {*known, *(path for place in places for path in _special_in(root, place))}
    for pattern in filter(_has_place, patterns):
        for place in _place_of(pattern):
            candidates.update(_special_in(root, place, below=not _GLOB.search(pattern)))
    candidates = sorted(candidates)
    if not candidates:
        return set()
    return _chosen_among(store, rules_above(root, candidates), rules, patterns, candidates)


def _special_in(root: Path, place: bytes, *, below: bool = False) -> list[bytes]:
    """What is special right in a directory or all the way `below` it; or the place itself."""
    # Not through a link; the sandbox itself has been looked at.
    if not place:
        return []
    if not is_directory_inside(root, place):
        return [place] if is_special_inside(root, place) else []
    try:
        with os.scandir(os.path.join(os.fsencode(root), place)) as found:
            entries = list(found)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        # Gone, or told as unreadable.
        return []
    deeper = [e for e in entries if below and e.name != b".git" and e.is_dir(follow_symlinks=False)]
    return [
        *(os.path.join(place, e.name) for e in entries if is_special(e)),
        *(path for e in deeper for path in _special_in(root, place + b"/" + e.name, below=True)),
    ]


def _chosen_among(
    store: PrivateStore,
    texts: Mapping[bytes, bytes],
    rules: IgnoreRules,
    patterns: Sequence[str],
    candidates: Sequence[bytes],
) -> set[bytes]:
    with laid_out(store, texts, rules, candidates) as (place, root, words):
        git = store.git(root, place / "index")
        found = chosen_files(store, git, root, words, patterns)
    return set(candidates).intersection(found.files)


@dataclass(frozen=True, slots=True)
class _Question:
    """What to ask git: the words, and the paths to which the answer is restricted."""

    words: tuple[str, ...]
    below: tuple[bytes, ...] = ()


def _questions(rules: Sequence[str], patterns: Sequence[str]) -> list[_Question]:
    """One for all plain names, and one for each pattern with a place."""
    plain = [word for p in patterns if not _has_place(p) for word in ("-x", f"!{p}")]
    asked = [_Question((*rules, *UNTRACKED, *plain))] if plain else []
    return [*asked, *(_Question(_nothing_but(p), _place_of(p)) for p in patterns if _has_place(p))]


def _nothing_but(pattern: str) -> tuple[str, ...]:
    """A listing under rules that ignore every file but those at or below what a pattern names.

    To list what a rule ignores would be simpler, but then git does not name repositories.
    """
    pattern = pattern.lstrip("/")
    rules = ("*", "!*/", f"!/{pattern}", f"!/{pattern.rstrip('/')}/**")
    return ("ls-files", "-o", "-z", *(word for rule in rules for word in ("-x", rule)))


def _place_of(pattern: str) -> tuple[bytes, ...]:
    """The path that a pattern names, or the directory before its first wild card."""
    path = pattern.strip("/")
    fixed = _GLOB.split(path, maxsplit=1)[0]
    place = path if fixed == path else fixed.rpartition("/")[0]
    return (os.fsencode(place),) if place else ()


def _has_place(pattern: str) -> bool:
    return "/" in pattern.rstrip("/")


def _repositories_towards(root: Path, places: Sequence[bytes]) -> list[bytes]:
    """Those that places are in, or are themselves; with a slash."""
    directories = dict.fromkeys(d for place in places for d in (*parents_of(place), place))
    return [d + b"/" for d in directories if is_there(root, d + b"/.git")]


class _Listed:
    """One listing, with what is in the repositories that it only names."""

    def __init__(self, git: GitRunner, root: Path, question: _Question, scratch: Path) -> None:
        self._git, self._root, self._question, self._scratch = git, root, question, scratch
        self._index: dict[str, str] | None = None
        self.closed: list[bytes] = []
        self.repositories: set[bytes] = set()

    def files(self) -> list[bytes]:
        # Git does not even name a repository if only something in it is asked for.
        self._look_into(_repositories_towards(self._root, self._question.below))
        records = self._ask(self._question.below)
        files: list[bytes] = []
        while records:
            files += (path for path in records if not path.endswith(b"/"))
            named = (path for path in records if path.endswith(b"/"))
            found = [path for path in named if path not in self.repositories]
            self._look_into(found)
            records = self._ask(found) if found else []
        return files

    def _look_into(self, repositories: list[bytes]) -> None:
        """Have git take these for directories from here on, in an index of its own."""
        if not repositories:
            return
        if self._index is None:
            self._index = {"GIT_INDEX_FILE": str(copied(self._git, self._scratch))}
        self.repositories.update(repositories)
        take_for_directories(self._git, repositories, self._index)

    def _ask(self, below: Sequence[bytes]) -> list[bytes]:
        output = self._git.run(*self._question.words, *only_below(below), extra=self._index)
        rest, complaints = understood(output)
        self.closed += complaints.directories
        return rest.checked().records()
