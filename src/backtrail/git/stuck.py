"""Finding out that git will never come to an end, and for which file or rule of a sandbox.

Nothing is judged by time alone. Git waits for ever if it has a FIFO or a device open, or is about
to open one. It burns for ever if it computes without reading, writing, opening or taking any
memory, while a rule is in force that has more wild cards than matching can cope with. Whoever is
neither is only slow.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from backtrail.domain.errors import RefusedError
from backtrail.git.plain_files import LONGEST_RULES, NotPlainError, first_line, read_plain
from backtrail.git.walking import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_PROC = Path("/proc")
_RULES_FILES = (b".gitignore", b".gitattributes")
_SMALL = {b"HEAD", b"commondir", b"gitdir", b"exclude", b"attributes", *_RULES_FILES}
_ABSURD = 1024**3
_OPENS = {b"2", b"56", b"257", b"286", b"288", b"322", b"437"}
"""What the calls that open a file are numbered on the usual processors."""
_LONGEST_PATH = 4096
_NULL = os.stat(os.devnull).st_rdev
_TICKS = os.sysconf("SC_CLK_TCK")
_BURNT, _BURNT_LONG = 1.0, 4.0
"""So many seconds of a processor without any sign of progress are suspicious."""
_SHARE_OF_SYSTEM = 20
"""Somebody who makes calls of the system spends more than one such part of its time in them."""
_SUSPICIOUS, _HOPELESS = 4, 9
"""So many wild cards in one part of a path make matching slow, or endless."""
_WILD_CARDS = re.compile(rb"\*+")
_SHOWN = 60


class WaitingError(RefusedError):
    """Git waits for a file that will never be there."""


class _Work(NamedTuple):
    """What a process has done so far."""

    user: int
    system: int
    marks: tuple[object, ...]
    """What changes whenever it reads, writes, opens or needs memory."""


class Watch:
    """One running git, and what was seen of it the last time."""

    def __init__(
        self, pid: int, arguments: Sequence[str], environment: Mapping[str, str], cwd: Path
    ) -> None:
        self._place = _PROC / str(pid)
        self._arguments = arguments
        self._root = Path(environment.get("GIT_WORK_TREE", os.devnull))
        self._git_dir = Path(environment.get("GIT_DIR", cwd))
        self._awaited: bytes | None = None
        self._since: _Work | None = None

    def look(self) -> None:
        """Refuse if git is found to wait or to burn as it was the last time."""
        try:
            self._refuse_waiting()
            self._refuse_burning()
        except ProcessLookupError:
            return
        except (FileNotFoundError, PermissionError):
            # The system does not tell what processes do; or this one has just ended.
            self._refuse_by_looking()

    def _refuse_by_looking(self) -> None:
        for directory, entries in walk(self._root):
            paths = [os.path.join(directory, e.name) for e in entries if e.name in _RULES_FILES]
            refuse_endless_among(self._root, paths)

    def _refuse_waiting(self) -> None:
        awaited = _awaited(self._place)
        if awaited is not None and awaited == self._awaited:
            common = os.path.realpath(
                self._git_dir / (first_line(self._git_dir / "commondir") or "")
            )
            raise waiting_for(self._root, awaited, self._git_dir, Path(common))
        self._awaited = awaited

    def _refuse_burning(self) -> None:
        work, since = _work_of(self._place), self._since
        if since is None or _has_moved(since, work):
            self._since = work
            return
        burnt = (work.user - since.user) / _TICKS
        if burnt >= _BURNT:
            rules = ((_wild_cards(rule), place, rule) for place, rule in self._rules())
            most, place, rule = max(rules, default=(0, "", b""))
            if most > _HOPELESS or (most > _SUSPICIOUS and burnt >= _BURNT_LONG):
                raise _burning(place, rule)

    def refuse_absurd(self) -> None:
        """Refuse a rules file that git could not even take into memory."""
        for directory, entries in walk(self._root):
            for entry in entries:
                if (
                    entry.name in _RULES_FILES
                    and entry.stat(follow_symlinks=False).st_size > _ABSURD
                ):
                    place = os.path.join(os.fsencode(self._root), directory, entry.name)
                    raise waiting_for(self._root, place)

    def _rules(self) -> Iterator[tuple[str, bytes]]:
        """Every rule that may be in force, and where it stands."""
        for before, word in zip(("", *self._arguments), self._arguments, strict=False):
            if before == "-x":
                yield "plan.toml", os.fsencode(word)
            name, _, value = word.partition("=")
            if name in ("core.excludesFile", "--exclude-from"):
                yield from _lines(Path(value), "info/exclude, your own rules or .worktreeinclude")
        for directory, entries in walk(self._root):
            for name in {entry.name for entry in entries}.intersection(_RULES_FILES):
                path = os.path.join(directory, name)
                yield from _lines(self._root / os.fsdecode(path), os.fsdecode(path))


def refuse_endless_among(root: Path, special: Iterable[bytes]) -> None:
    """Refuse if one of these special files would stop git in the middle of writing."""
    for path in special:
        place = os.path.join(os.fsencode(root), path)
        with suppress(OSError):
            # A socket cannot be opened at all, and git goes on without it.
            if path.split(b"/")[-1] in _RULES_FILES and _never_ends(os.lstat(place)):
                raise waiting_for(root, place)


def _never_ends(found: os.stat_result) -> bool:
    device = stat.S_ISCHR(found.st_mode) and found.st_rdev != _NULL
    return stat.S_ISFIFO(found.st_mode) or stat.S_ISBLK(found.st_mode) or device


def _is_absurd(path: bytes, size: int) -> bool:
    """Whether git reads all of this into memory, although no such file is so large."""
    return size > _ABSURD and (path.split(b"/")[-1] in _SMALL or b"/refs/" in path)


def _awaited(process: Path) -> bytes | None:
    """A FIFO or a device (or an absurd file) that a process has open, or is about to open."""
    for descriptor in os.listdir(process / "fd"):
        with suppress(FileNotFoundError):
            path = os.readlink(os.fsencode(process / "fd" / descriptor))
            # Pipes without a name lead to another process, which is looked at for itself.
            found = (process / "fd" / descriptor).stat()
            if path.startswith(b"/") and (_never_ends(found) or _is_absurd(path, found.st_size)):
                return path
    for line in (process / "maps").read_bytes().splitlines():
        if line.endswith(b"/packed-refs") and _length(line) > _ABSURD:
            return line[line.index(b"/") :]
    called = (process / "syscall").read_bytes().split()
    for address in called[1:3] if called[0] in _OPENS else ():
        with suppress(OSError, ValueError):
            here = os.fsencode(os.readlink(process / "cwd"))
            path = os.path.join(here, _text_at(process, address))
            if _never_ends(os.stat(path)):
                return path
    return None


def _length(mapping: bytes) -> int:
    begin, end = mapping.partition(b" ")[0].split(b"-")
    return int(end, 16) - int(begin, 16)


def _text_at(process: Path, address: bytes) -> bytes:
    with (process / "mem").open("rb", buffering=0) as memory:
        return os.pread(memory.fileno(), _LONGEST_PATH, int(address, 16)).partition(b"\0")[0]


def _work_of(process: Path) -> _Work:
    numbers = (process / "stat").read_bytes().rpartition(b")")[2].split()
    places = [
        (entry.name, entry.read_bytes().partition(b"\n")[0])
        for entry in sorted((process / "fdinfo").iterdir())
    ]
    moved = (process / "io").read_bytes()
    return _Work(int(numbers[11]), int(numbers[12]), (numbers[7], numbers[9], moved, places))


def _has_moved(before: _Work, now: _Work) -> bool:
    system = (now.system - before.system) * _SHARE_OF_SYSTEM
    return before.marks != now.marks or system > max(now.user - before.user, _SHARE_OF_SYSTEM)


def _lines(path: Path, place: str) -> Iterator[tuple[str, bytes]]:
    with suppress(OSError, NotPlainError):
        for line in read_plain(path, LONGEST_RULES).splitlines():
            yield place, line


def _wild_cards(rule: bytes) -> int:
    """How many wild cards of a rule are tried in all combinations."""
    parts = [] if rule.startswith(b"#") else rule.split(b"/")
    return max([len(_WILD_CARDS.findall(part)) for part in parts] + [parts.count(b"**")])


def waiting_for(root: Path, place: bytes, *others: Path) -> WaitingError:
    """The refusal of a place, by the name of the link that leads there if there is one."""
    found = next((p for r in (root, *others) for p in _links_to(r, place)), place)
    base = os.fsencode(root)
    inside = found.startswith(base + b"/")
    path = os.fsdecode(os.path.relpath(found, base) if inside else found)
    what = "a FIFO or a device: git would wait for it"
    if os.path.isfile(place):
        what = "far too large: git would read it"
    return WaitingError(
        f"{path!r} is {what} for ever",
        hint=f"move it {'out of the sandbox' if inside else 'away'} and try again",
        details={"path": path},
    )


def _links_to(root: Path, place: bytes) -> Iterator[bytes]:
    """Links to a device below a directory, as far as they are outside of any objects."""
    if place.startswith(b"/dev/"):
        for directory, entries in walk(root, passing=b"objects"):
            for name in (entry.name for entry in entries if entry.is_symlink()):
                path = os.path.join(os.fsencode(root), directory, name)
                if os.path.realpath(path) == place:
                    yield path


def _burning(place: str, rule: bytes) -> RefusedError:
    text = os.fsdecode(rule)
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return RefusedError(
        f"a rule in {place} keeps git busy for ever: {shown!r}",
        hint="write it with fewer wild cards (*), and try again",
        details={"path": place, "rule": text},
    )
