"""A merge, rebase, cherry-pick, revert or bisect that is under way: what git keeps of it in files.

They lie in the worktree's own git directory, where whoever works in the sandbox can write. To us
they are data: read and written within bounds, through directories that were opened without
following a link, and never run. Their contents name commits and trees, which a checkpoint keeps.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from errno import ELOOP
from pathlib import Path

from backtrail.domain.errors import GitFailedError
from backtrail.domain.failpoints import Failpoints
from backtrail.domain.wording import some_of
from backtrail.git.osfiles.walk import walk_all

# In this order: a rebase that stopped at a conflict has a CHERRY_PICK_HEAD as well.
_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply/applying": "applying patches (git am)",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a series of cherry-picks or reverts",
    "BISECT_LOG": "a bisect",
}
_LAST_MOVE = "ORIG_HEAD"
"""Git leaves it behind, and `git am --abort` goes by it; alone it means nothing."""
_FILES = (
    "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "MERGE_RR", "MERGE_AUTOSTASH", "AUTO_MERGE",
    "SQUASH_MSG", "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "BISECT_START",
    "BISECT_TERMS", "BISECT_NAMES", "BISECT_EXPECTED_REV", "BISECT_ANCESTORS_OK",
    "BISECT_FIRST_PARENT", "BISECT_RUN", "BISECT_HEAD", _LAST_MOVE,
)  # fmt: skip
_USERS_REFS = "refs/worktree"
_DIRECTORIES = (
    "rebase-merge", "rebase-apply", "sequencer", "refs/bisect", "refs/rewritten", _USERS_REFS,
)  # fmt: skip
_MOST_BYTES = 64 * 1024**2
_LONGEST_LIST = 8 * 1024**2
"""Of a list of things to do: so many names have room there, each with a long line."""
_MOST_FILES = 20_000
_MOST_NAMES = 20_000
"""As many as fit into the words of a command, as parents of one commit."""
_DEEPEST = 16
_OURS = "backtrail-merge-state"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
NOT_RECORDED = "checkpoints did not hold that yet when it was made"

# Each of them looks at a byte a few times at most, whatever stands there: it is the sandbox's.
_ID = re.compile(rb"(?<![0-9A-Za-z])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9A-Za-z])")
_IN_A_LIST = re.compile(rb"^[ \t]*[a-z]+ (?:-[cC] )?([0-9a-f]{4,64})(?=\s)", re.MULTILINE)
_TO_DO = re.compile(
    rb"^[ \t]*(?:(?:pick|p|reword|r|edit|e|squash|s|fixup|f|revert)(?: -[cC])?|(?:merge|m) -[cC])"
    rb" ([0-9a-f]{4,64})(?=\s)",
    re.MULTILINE,
)
_GOES_BY = re.compile(
    r"(?:MERGE|CHERRY_PICK|REVERT)_HEAD|MERGE_AUTOSTASH"
    r"|rebase-(?:merge|apply)/(?:onto|orig-head|autostash)|refs/(?:bisect|rewritten)/.*",
    re.DOTALL,
)
"""Whatever is under way cannot go on, or not be given up, without the commits in these."""
_LISTS = ("sequencer/todo", "rebase-merge/git-rebase-todo", "rebase-merge/done")
_PROSE = re.compile(
    r"(?:MERGE|SQUASH)_MSG|rebase-merge/(?:message.*|patch|author-script)"
    r"|rebase-apply/(?:patch|final-commit|msg.*|info|author-script)"
)
_PATCH = re.compile(r"rebase-apply/\d+")
_FIRST_LINE = 128


@dataclass(frozen=True, slots=True)
class MergeState:
    """What git has noted; also what it leaves behind when nothing is under way."""

    what: str | None = None
    """What is under way, in words."""
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """By path below the git directory."""
    directories: tuple[str, ...] = ()
    problem: str | None = None
    """Why none of it is held, in words."""

    @property
    def names(self) -> list[str]:
        """What may be the id of an object, whole or its beginning."""
        if self.files.keys() <= {_LAST_MOVE}:
            return []
        found = (name for path, content in self.files.items() for name in _named(path, content))
        return [name.decode() for name in dict.fromkeys(found)]

    @property
    def goes_by(self) -> dict[str, str]:
        """Commits, whole ids or their beginnings, without which it cannot go on; with the file."""
        found = ((p, name) for p, text in self.files.items() for name in _commits_of(p, text))
        return {name.decode(): path for path, name in found} if self.what else {}

    def naming(self, names: set[str]) -> list[str]:
        """The files that name one of these."""
        sought = {name.encode() for name in names}
        return [p for p, text in self.files.items() if not sought.isdisjoint(_named(p, text))]

    def lasting(self) -> MergeState:
        """That part of it that stays when whatever is under way is cleared away."""
        kept = {p: c for p, c in self.files.items() if _outlives_it(p)}
        return MergeState(None, kept, tuple(d for d in self.directories if _outlives_it(d)))


def _outlives_it(path: str) -> bool:
    return path == _LAST_MOVE or f"{path}/".startswith(f"{_USERS_REFS}/")


def _named(path: str, content: bytes) -> Iterable[bytes]:
    if _PROSE.fullmatch(path):
        return ()
    if _PATCH.fullmatch(path):
        content = content[:_FIRST_LINE]
    listed = _IN_A_LIST.findall(content) if path in _LISTS else []
    return (*listed, *_ID.findall(content))


def _commits_of(path: str, content: bytes) -> Iterable[bytes]:
    if path in _LISTS[:2]:
        return _TO_DO.findall(content)
    return _ID.findall(content) if _GOES_BY.fullmatch(path) else ()


def under_way(git_dir: Path) -> str | None:
    """What merge-like operation is in progress, in words."""
    found = (what for name, what in _UNDER_WAY.items() if os.path.lexists(git_dir / name))
    return next(found, None)


class _NotHeldError(Exception):
    """What is there cannot be held; the text says why."""


def read_merge_state(git_dir: Path, at: int | None = None) -> MergeState:
    """Everything of the kind that is there, or why it cannot be had; in an opened directory."""
    reading = _Reading()
    what = under_way(git_dir)
    try:
        with _opened(git_dir, at) as root:
            for name in _FILES:
                reading.file(root, name, name)
            for name in _DIRECTORIES:
                reading.directory(root, name)
    except _NotHeldError as error:
        return MergeState(what, problem=str(error))
    except OSError as error:
        why = "is a link" if error.errno == ELOOP else f"cannot be read: {error.strerror}"
        return MergeState(what, problem=f"{reading.at} {why}")
    found = MergeState(what, reading.files, tuple(reading.directories))
    if len(found.names) > _MOST_NAMES:
        return MergeState(what, problem="it names too many objects")
    return found


@dataclass(slots=True)
class _Reading:
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    directories: list[str] = field(default_factory=list[str])
    left: int = _MOST_BYTES
    at: str = "the git directory"

    def file(self, directory: int, name: str, path: str) -> None:
        self.at = path
        try:
            descriptor = os.open(name, _READ, dir_fd=directory)
        except FileNotFoundError:
            return
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise _NotHeldError(f"{path} is no plain file")
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(min(self.left, os.fstat(descriptor).st_size) + 1)
        if path in _LISTS and len(content) > _LONGEST_LIST:
            raise _NotHeldError(f"{path} is far too long")
        self.left -= len(content)
        if self.left < 0 or len(self.files) >= _MOST_FILES:
            raise _NotHeldError("there is too much of it")
        self.files[path] = content

    def directory(self, root: int, top: str) -> None:
        waiting = [top]
        while waiting:
            path = self.at = waiting.pop()
            if path.count("/") > _DEEPEST or len(self.directories) >= _MOST_FILES:
                raise _NotHeldError("there is too much of it")
            try:
                with _below(root, path) as directory:
                    self.directories.append(path)
                    waiting += self._entries(directory, path)
            except FileNotFoundError:
                continue

    def _entries(self, directory: int, path: str) -> list[str]:
        """Read the files of a directory; gives the directories in it."""
        inner: list[str] = []
        with os.scandir(directory) as entries:
            for entry in entries:
                inside = f"{path}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    inner.append(inside)
                elif not entry.name.endswith(".lock"):
                    self.file(directory, entry.name, inside)
        return inner


@contextmanager
def _opened(git_dir: Path, at: int | None = None) -> Generator[int]:
    # Where it is was looked at before, and a checkout's `.git` may be a link to it.
    descriptor = os.open(os.path.realpath(git_dir), _OPEN) if at is None else os.dup(at)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _below(root: int, path: str) -> Generator[int]:
    """A directory below another one, to which no link leads."""
    descriptor = os.dup(root)
    try:
        for name in path.split("/") if path else ():
            inner = os.open(name, _OPEN, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def foreign_to(now: MergeState, before: MergeState, after: MergeState) -> list[str]:
    """What is neither as it was before nor as it was to become."""
    if now.problem:
        return [f"the state of git: {now.problem}"]
    if before.problem or after.problem:
        after = after if not after.problem else before.lasting()
    paths = sorted({*now.files, *before.files, *after.files})
    known = (before.files, after.files)
    wrong = [p for p in paths if now.files.get(p) not in [files.get(p) for files in known]]
    return [some_of([f".git/{path}" for path in wrong])] if wrong else []


def put_merge_state(git_dir: Path, at: int, goal: MergeState, failpoints: Failpoints) -> None:
    """Make it what is asked in an opened git directory; each file is replaced as a whole."""
    now = read_merge_state(git_dir, at)
    if (now.files, {*now.directories}) == (goal.files, {*goal.directories}):
        return
    failpoints.reach("merge_state.begun")
    try:
        with _opened(git_dir, at) as root:
            _remove(root, now, goal)
            failpoints.reach("merge_state.cleared")
            for path, content in goal.files.items():
                if now.files.get(path) != content:
                    _write(root, path, content)
                    failpoints.reach("merge_state.file_written")
            for path in goal.directories:
                _make_directories(root, path)
            os.fsync(root)
    except OSError as error:
        name = error.filename or ""
        raise GitFailedError(
            f"the state of git in {str(git_dir)!r} cannot be written: {error.strerror} {name}",
            hint="look whether another program works there",
        ) from error
    failpoints.reach("merge_state.done")


def _remove(root: int, now: MergeState, goal: MergeState) -> None:
    for path in now.files.keys() - goal.files.keys():
        above, _, name = path.rpartition("/")
        with suppress(FileNotFoundError), _below(root, above) as directory:
            os.unlink(name, dir_fd=directory)
    for path in sorted({*now.directories} - {*goal.directories}, reverse=True):
        above, _, name = path.rpartition("/")
        with suppress(FileNotFoundError), _below(root, above) as directory:
            os.rmdir(name, dir_fd=directory)
            os.fsync(directory)


def _write(root: int, path: str, content: bytes) -> None:
    above, _, name = path.rpartition("/")
    _make_directories(root, above)
    with suppress(FileNotFoundError):
        os.unlink(_OURS, dir_fd=root)
    with os.fdopen(os.open(_OURS, _WRITE, 0o666, dir_fd=root), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    with _below(root, above) as directory:
        os.rename(_OURS, name, src_dir_fd=root, dst_dir_fd=directory)
        os.fsync(directory)


def _make_directories(root: int, path: str) -> None:
    parts = path.split("/") if path else []
    for count in range(len(parts)):
        with _below(root, "/".join(parts[:count])) as directory, suppress(FileExistsError):
            os.mkdir(parts[count], dir_fd=directory)


def wrong_merge_state(git_dir: Path, goal: MergeState) -> list[str]:
    """The second look: every place where git notes such a thing, walked anew and compared."""
    found: dict[str, bytes | None] = {}
    directories: set[str] = set()
    for name in _FILES:
        _look(git_dir, name, found)
    for top in _DIRECTORIES:
        for place, entries in walk_all(git_dir, os.fsencode(top)):
            directories.add(os.fsdecode(place))
            for entry in entries:
                name = os.fsdecode(entry.name)
                if not (name.endswith(".lock") or entry.is_dir(follow_symlinks=False)):
                    _look(git_dir, f"{os.fsdecode(place)}/{name}", found)
    wanted = goal.files
    wrong = [p for p in {*found, *wanted} if found.get(p) != wanted.get(p)]
    wrong += directories ^ {*goal.directories}
    return [f".git/{path}" for path in sorted(wrong)]


def _look(git_dir: Path, path: str, found: dict[str, bytes | None]) -> None:
    place = os.path.join(git_dir, path)
    if not os.path.lexists(place):
        return
    try:
        with os.fdopen(os.open(place, _READ), "rb") as file:
            now = os.fstat(file.fileno())
            held = stat.S_ISREG(now.st_mode) and now.st_size <= _MOST_BYTES
            found[path] = file.read(now.st_size + 1) if held else None
    except OSError:
        found[path] = None
