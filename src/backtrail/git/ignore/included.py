"""Which ignored files are included all the same: in a checkpoint, or in a new sandbox.

Patterns of the user's (`include_ignored`) may lead into ignored directories. Included by default
are small files, by their names, in the directories that git goes into: not in those that are
ignored as a whole.

Into a new sandbox comes what `[sandbox] copy` and a file `.worktreeinclude` name, as a .gitignore
would. It is copied only if git ignores it, and only where nothing is yet; links stay links.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from pathlib import Path

from backtrail.domain.capture import SMALL, SMALL_TOGETHER, IncludeRules
from backtrail.domain.checkpoint import NotCaptured
from backtrail.domain.errors import FailedError
from backtrail.git.ignore.eligibility import NOT_SMALL, NOT_SMALL_TOGETHER
from backtrail.git.ignore.evaluate import ignored_here, laid_out, rules_above, rules_of
from backtrail.git.ignore.ignored import Ignored
from backtrail.git.ignore.listing import UNTRACKED, only_below, take_for_directories
from backtrail.git.ignore.rules import ConfiguredPlace, IgnoreRules, UserSettings, ask_rules
from backtrail.git.ignore.untracked import Lister
from backtrail.git.osfiles.beneath import Beneath, parents_of
from backtrail.git.osfiles.moving import copy_entry, move_where_free
from backtrail.git.osfiles.paths import (
    exists_inside,
    is_directory_inside,
    is_special,
    is_special_inside,
    is_there,
    lstat_inside,
)
from backtrail.git.osfiles.plain_files import NotPlainError, open_plain
from backtrail.git.osfiles.walk import entries_of, walk
from backtrail.git.process.runner import nul_joined
from backtrail.git.process.stderr import really_named, understood
from backtrail.git.store.index import copied
from backtrail.git.store.objects import TreeEntry
from backtrail.git.store.store import PrivateStore, scratch_directory
from backtrail.git.user.discovery import Worktree
from backtrail.git.user.head import read_index

_GLOB = re.compile(r"[*?\[\\]")
_NONE_IGNORED = 1


@dataclass(frozen=True, slots=True)
class IncludedFiles:
    """Ignored files that are included, and directories in which none could be looked for."""

    files: tuple[bytes, ...] = ()
    unreadable: tuple[bytes, ...] = ()
    repositories: tuple[bytes, ...] = ()
    """Those that hold files that patterns include."""
    too_large: tuple[NotCaptured, ...] = ()
    """What would be included by default if it, or all of it together, were smaller."""
    special: tuple[bytes, ...] = ()
    """FIFOs and the like, of which git itself does not speak."""


def included_files(lister: Lister, ignored: Ignored, include: IncludeRules) -> IncludedFiles:
    """What is included of the ignored files; the index of the lister holds the captured ones."""
    root, named = lister.root, _named_files(lister, include.patterns)
    small = {path for path in ignored.files if _is_small_name(include, path)}
    small.update(_hidden_small_files(root, ignored, include))
    listed, closed = _listed_files(lister, ignored, include.listed)
    fitting, too_large = _within_limits(root, small.union(listed).difference(named.files))
    return IncludedFiles(
        files=(*named.files, *fitting),
        unreadable=(*named.unreadable, *(really_named(root, path) for path in closed)),
        repositories=named.repositories,
        too_large=too_large,
    )


def _named_files(lister: Lister, patterns: Sequence[str]) -> IncludedFiles:
    """Ignored files that match the patterns.

    A name without a slash matches at any depth but in ignored directories, as in .gitignore; a
    path with one is looked for from the root, also where its directory is ignored. Repositories
    are directories like others.
    """
    if not patterns:
        return IncludedFiles()
    with scratch_directory(lister.store) as directory:
        questions = _questions(lister.words, patterns)
        answers = [_answer(lister, question, directory / "index") for question in questions]
    files = dict.fromkeys(path for answer in answers for path in answer.files)
    closed = dict.fromkeys(path for answer in answers for path in answer.unreadable)
    repositories = {path for answer in answers for path in answer.repositories}
    holding = repositories and repositories & {d + b"/" for p in files for d in parents_of(p)}
    return IncludedFiles(
        files=tuple(files),
        unreadable=tuple(really_named(lister.root, path) for path in closed),
        repositories=tuple(path.rstrip(b"/") for path in sorted(holding)),
    )


@cache
def _small_names(small: tuple[str, ...]) -> re.Pattern[bytes]:
    names = (translate(name) for name in small if not _has_place(name))
    return re.compile("|".join(names).encode(), re.DOTALL)


def _is_small_name(include: IncludeRules, path: bytes) -> bool:
    if not include.small:
        return False
    return bool(_small_names(include.small).match(path.rpartition(b"/")[2]))


def _hidden_small_files(root: Path, ignored: Ignored, include: IncludeRules) -> list[bytes]:
    """Paths that are looked for by themselves: in an ignored directory git names no files."""
    closed = set(ignored.closed)
    paths = (os.fsencode(name) for name in include.small if _has_place(name))
    hidden = (path for path in paths if any(d + b"/" in closed for d in parents_of(path)))
    return [path for path in hidden if exists_inside(root, path)]


def _listed_files(
    lister: Lister, ignored: Ignored, lines: Sequence[str]
) -> tuple[set[bytes], tuple[bytes, ...]]:
    """Ignored files that the lines of a .gitignore name, and directories that cannot be read.

    A directory that is ignored as a whole is looked into if a line names it, or a path in it.
    """
    if not lines or not ignored.records:
        return set(), ()
    with scratch_directory(lister.store) as directory:
        (directory / "rules").write_bytes(b"".join(os.fsencode(line) + b"\n" for line in lines))
        matched = _matched(lister.store, directory, [*ignored.files, *ignored.closed])
        inside = {path for path in matched if path.endswith(b"/")}
        inside.update(_led_into(ignored.closed, lines))
        if not inside:
            return matched, ()
        from_lines = f"--exclude-from={directory / 'rules'}"
        output = lister.git.run(
            "ls-files", "-o", "-i", "-z", from_lines, *only_below(sorted(inside))
        )
    rest, complaints = understood(output)
    below = (p for p in rest.checked().records() if any(d + b"/" in inside for d in parents_of(p)))
    found = {path for path in (*matched, *below) if not path.endswith(b"/")}
    return found, complaints.directories


def _matched(store: PrivateStore, directory: Path, paths: Sequence[bytes]) -> set[bytes]:
    """Those of the paths that the rules in a directory match, whatever is on disk."""
    root = directory / "tree"
    root.mkdir()
    # Of a path that is not there git does not know that it is a directory, but of what is above
    # another one it does. With a beginning of its own no path is taken for a magic one.
    asked = {b"./" + (path + b".probe" if path.endswith(b"/") else path): path for path in paths}
    output = store.git(root, directory / "index").run(
        "-c", f"core.excludesFile={directory / 'rules'}",
        "check-ignore", "--no-index", "-z", "--stdin",
        stdin=nul_joined(list(asked)), extra={"GIT_LITERAL_PATHSPECS": "0"},
    )  # fmt: skip
    if output.code != _NONE_IGNORED:
        output.checked()
    return {asked[record] for record in output.records()}


def _led_into(closed: Sequence[bytes], lines: Sequence[str]) -> list[bytes]:
    """Ignored directories that are on the way to what a line names, or below its beginning."""
    paths = (line for line in lines if _has_place(line) and not line.startswith(("#", "!")))
    places = tuple(place + b"/" for path in paths for place in _place_of(path))
    return [d for d in closed if d.startswith(places) or any(p.startswith(d) for p in places)]


def _within_limits(
    root: Path, paths: Iterable[bytes]
) -> tuple[list[bytes], tuple[NotCaptured, ...]]:
    """Those that fit in, the smallest first, and a note for each of the others."""
    sizes = {path: _size_of(root, path) for path in paths}
    fitting: list[bytes] = []
    left_out: list[NotCaptured] = []
    together = 0
    for size, path in sorted((size, path) for path, size in sizes.items()):
        together += size
        if size <= SMALL and together <= SMALL_TOGETHER:
            fitting.append(path)
        else:
            reason = NOT_SMALL if size > SMALL else NOT_SMALL_TOGETHER
            left_out.append(NotCaptured(os.fsdecode(path), reason, size))
    return fitting, tuple(left_out)


def _size_of(root: Path, path: bytes) -> int:
    try:
        found = lstat_inside(root, path)
    except PermissionError:
        # Whoever stores it will be told that it cannot be read.
        return 0
    return found.st_size if found is not None else 0


def would_be_captured(
    store: PrivateStore,
    files: Iterable[TreeEntry],
    rules: IgnoreRules,
    include: IncludeRules,
    candidates: Sequence[bytes],
) -> set[bytes]:
    """Those of the candidates that a checkpoint with these files would hold, had they been there.

    Either its rules do not ignore them, or they are included.
    """
    if not candidates:
        return set()
    return _held_among(store, rules_of(store, files, rules), rules, include, candidates)


def included_special_files(
    lister: Lister, include: IncludeRules, included: IncludedFiles, known: Iterable[bytes]
) -> set[bytes]:
    """FIFOs and the like that would be included, of which git itself does not speak.

    Looked for are those that are `known` to be ignored, those beside files that patterns include,
    those that patterns name, and those below a directory that one names in full, or right in the
    one before its first wild card.
    """
    patterns, root = include.patterns, lister.root
    candidates = {path for path in known if patterns or _is_small_name(include, path)}
    if patterns:
        places = {path.rpartition(b"/")[0] for path in included.files}
        candidates.update(path for place in places for path in _special_in(root, place))
    for pattern in filter(_has_place, patterns):
        for place in _place_of(pattern):
            candidates.update(_special_in(root, place, below=not _GLOB.search(pattern)))
    if not candidates:
        return set()
    above = rules_above(root, sorted(candidates))
    return _held_among(lister.store, above, lister.rules, include, sorted(candidates))


def _special_in(root: Path, place: bytes, *, below: bool = False) -> list[bytes]:
    """What is special right in a directory or all the way `below` it; or the place itself."""
    # Not through a link; the sandbox itself has been looked at.
    if not place:
        return []
    if not is_directory_inside(root, place):
        return [place] if is_special_inside(root, place) else []
    # What is gone, or told as unreadable, holds nothing.
    here = [(place, entries_of(root, place) or [])]
    found = walk(root, place) if below else here
    return [os.path.join(d, e.name) for d, entries in found for e in entries if is_special(e)]


def _held_among(
    store: PrivateStore,
    texts: Mapping[bytes, bytes],
    rules: IgnoreRules,
    include: IncludeRules,
    candidates: Sequence[bytes],
) -> set[bytes]:
    with laid_out(store, texts, rules, candidates) as (place, root, words):
        lister = Lister(store, store.git(root, place / "index"), root, rules, words)
        shown = lister.git.call(*words, *UNTRACKED).records()
        found = included_files(lister, lister.ignored(), include)
    return set(candidates).intersection((*shown, *found.files))


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


def _answer(lister: Lister, question: _Question, scratch: Path) -> IncludedFiles:
    """What a question finds, also in repositories, which git only names."""
    index: dict[str, str] | None = None
    files: list[bytes] = []
    closed: list[bytes] = []
    known: list[bytes] = []
    # Git does not even name a repository if only something in it is asked for.
    named, below = _repositories_towards(lister.root, question.below), question.below
    while True:
        if named:
            # In an index of its own git takes these for directories from here on.
            index = index or {"GIT_INDEX_FILE": str(copied(lister.git, scratch))}
            take_for_directories(lister.git, named, index)
            known += named
        words = (*question.words, *only_below(below))
        rest, complaints = understood(lister.ask(*words, index=index).finish())
        closed += complaints.directories
        records = rest.checked().records()
        files += (path for path in records if not path.endswith(b"/"))
        named = [path for path in records if path.endswith(b"/") and path not in known]
        if not named:
            return IncludedFiles(tuple(files), tuple(closed), tuple(known))
        below = tuple(named)


LIST_FILE = ".worktreeinclude"
LONGEST_LIST = 64 * 1024


def copy_rules(root: Path, patterns: Sequence[str]) -> tuple[str, ...]:
    """The patterns and the lines of a checkout's own list, as of one .gitignore."""
    own = (line.removesuffix("\r") for line in os.fsdecode(_own_list(root)).split("\n"))
    return tuple(line for line in (*patterns, *own) if line.strip() and not line.startswith("#"))


def files_to_copy(
    store: PrivateStore, source: Worktree, user: UserSettings, patterns: Sequence[str]
) -> list[bytes]:
    """Ignored, untracked files of a checkout that the patterns or its own list name."""
    rules = b"".join(os.fsencode(line) + b"\n" for line in copy_rules(source.root, patterns))
    if not rules:
        return []
    index = read_index(source.git_dir)
    with scratch_directory(store) as directory:
        (directory / "rules").write_bytes(rules)
        if index is not None:
            (directory / "index").write_bytes(index.content)
        git = store.git(source.root, directory / "index")
        listed = git.call(
            "ls-files", "-o", "-i", "-z", f"--exclude-from={directory / 'rules'}"
        ).records()
    found = [path for path in listed if not path.endswith(b"/")]
    place = ConfiguredPlace(source.root, source.git_dir, store.common_dir)
    ignored = ignored_here(store, source.root, ask_rules(place, user).answer(), found)
    return [path for path in found if path in ignored]


def _own_list(root: Path) -> bytes:
    try:
        with open_plain(root / LIST_FILE, follow=False) as file:
            text = file.read(LONGEST_LIST + 1)
    except (OSError, NotPlainError):
        return b""
    if len(text) > LONGEST_LIST:
        raise FailedError(
            f"{LIST_FILE!r} of the main checkout is larger than 64 KiB",
            hint="let it name the few files that a new sandbox needs",
        )
    return text


def copy_files(source: Path, target: Path, paths: Sequence[bytes]) -> list[bytes]:
    """Copy files and links that the target does not have; gives those that were copied."""
    with Beneath(source) as origin, Beneath(target) as inside:
        return [path for path in paths if _copy(origin, inside, path)]


def _copy(origin: Beneath, inside: Beneath, path: bytes) -> bool:
    info = origin.lstat(path)
    plain = info is not None and (stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode))
    if not plain or inside.lstat(path) is not None:
        return False
    source, name = origin.above(path)
    try:
        directory = inside.make_directory(path.rpartition(b"/")[0])
        # Whole or not at all: a copy that is cut short must not be taken for the file.
        half = name + b".backtrail-new"
        with suppress(FileNotFoundError):
            os.unlink(half, dir_fd=directory)
        copy_entry(name, half, source_directory=source, target_directory=directory)
        move_where_free(half, name, source_directory=directory, target_directory=directory)
    except (FileExistsError, NotADirectoryError):
        return False
    return True
