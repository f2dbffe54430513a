"""The one place that starts git: fixed arguments, a time limit, every return code looked at.

An interrupt in between would leave a git that nobody ends, with the lock of the sandbox in hand.

Nothing is judged by time alone. Git waits for ever if it has a FIFO or a device open, or is about
to open one. It burns for ever if it computes without reading, writing, opening or taking any
memory, while a rule is in force that has more wild cards than matching can cope with. Whoever is
neither is only slow.

Anything on standard error counts as a failure unless the caller says which lines it understands,
since git skips unreadable directories with return code 0 and a warning only.
"""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import comb
from pathlib import Path
from types import FrameType
from typing import IO, NamedTuple

from backtrail.domain.errors import GitFailedError, NoSpaceError, RefusedError
from backtrail.git.osfiles.locks import git_busy
from backtrail.git.osfiles.plain_files import LONGEST_RULES, NotPlainError, first_line, read_plain
from backtrail.git.osfiles.walk import walk
from backtrail.git.process.environment import git_executable, settings_arguments
from backtrail.git.process.stderr import beyond_links, full_disk, is_of_damage, without_rules

_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def undisturbed() -> Generator[None]:
    """Hold interrupts back for a moment, and let them happen afterwards."""
    if threading.current_thread() is not threading.main_thread():
        # Python delivers them to the main thread alone.
        yield
        return
    held: list[tuple[int, FrameType | None]] = []
    raising = [end for end in _ENDS if signal.getsignal(end) is signal.default_int_handler]
    for end in raising:
        signal.signal(end, lambda number, frame: held.append((number, frame)))
    try:
        yield
    finally:
        for end in raising:
            signal.signal(end, signal.default_int_handler)
        if held:
            signal.default_int_handler(*held[0])


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
"""More wild cards than these in one part of a path make matching slow, or endless."""
_WILD_CARDS = re.compile(rb"\*+")
_LONGEST_NAME = 255
_MOST_COUNTED = 100
_ENDLESS = _MOST_COUNTED + 1
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
            refuse_endless_among(self._root, (path for path, _ in self._rules_files()))

    def _refuse_waiting(self) -> None:
        awaited = _awaited(self._place)
        if awaited is not None and awaited == self._awaited:
            common = os.path.realpath(
                self._git_dir / (first_line(self._git_dir / "commondir") or "")
            )
            raise _waiting_for(self._root, awaited, self._git_dir, Path(common))
        self._awaited = awaited

    def _refuse_burning(self) -> None:
        work, since = _work_of(self._place), self._since
        if since is None or _has_moved(since, work):
            self._since = work
            return
        burnt = (work.user - since.user) / _TICKS
        if burnt >= _BURNT:
            most, place, rule = self._worst_rule()
            if most > _HOPELESS or (most > _SUSPICIOUS and burnt >= _BURNT_LONG):
                raise _burning(place, rule)

    def refuse_absurd(self) -> None:
        """Refuse a rules file that git could not even take into memory."""
        for path, entry in self._rules_files():
            if entry.stat(follow_symlinks=False).st_size > _ABSURD:
                raise _waiting_for(self._root, os.path.join(os.fsencode(self._root), path))

    def _worst_rule(self) -> tuple[int, str, bytes]:
        """The rule that takes longest, with as many wild cards as cost as much in one name."""
        kinds: dict[_WildCards, tuple[str, bytes]] = {}
        for place, rule in self._rules():
            kinds.setdefault(_wild_cards(rule), (place, rule))
        deepest = max((directory.count(b"/") for directory, _ in walk(self._root)), default=0) + 2
        weighed = ((kind.weight(deepest), *found) for kind, found in kinds.items())
        return max(weighed, default=(0, "", b""))

    def _rules(self) -> Iterator[tuple[str, bytes]]:
        """Every rule that may be in force, and where it stands."""
        for before, word in zip(("", *self._arguments), self._arguments, strict=False):
            if before == "-x":
                yield "plan.toml", os.fsencode(word)
            name, _, value = word.partition("=")
            if name in ("core.excludesFile", "--exclude-from"):
                yield from _lines(Path(value), "info/exclude, your own rules or .worktreeinclude")
        for path, _ in self._rules_files():
            yield from _lines(self._root / os.fsdecode(path), os.fsdecode(path))

    def _rules_files(self) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
        for directory, entries in walk(self._root):
            for entry in entries:
                if entry.name in _RULES_FILES:
                    yield os.path.join(directory, entry.name), entry


def refuse_endless_among(root: Path, special: Iterable[bytes]) -> None:
    """Refuse if one of these special files would stop git in the middle of writing."""
    for path in special:
        place = os.path.join(os.fsencode(root), path)
        with suppress(OSError):
            # A socket cannot be opened at all, and git goes on without it.
            if path.split(b"/")[-1] in _RULES_FILES and _never_ends(os.lstat(place)):
                raise _waiting_for(root, place)


def _never_ends(found: os.stat_result) -> bool:
    device = stat.S_ISCHR(found.st_mode) and found.st_rdev != _NULL
    return stat.S_ISFIFO(found.st_mode) or stat.S_ISBLK(found.st_mode) or device


def _awaited(process: Path) -> bytes | None:
    """A FIFO or a device (or an absurd file) that a process has open, or is about to open."""
    for descriptor in os.listdir(process / "fd"):
        with suppress(FileNotFoundError):
            path = os.readlink(os.fsencode(process / "fd" / descriptor))
            # Pipes without a name lead to another process, which is looked at for itself.
            found = (process / "fd" / descriptor).stat()
            # Git reads all of these into memory, and no such file is so large.
            small = path.split(b"/")[-1] in _SMALL or b"/refs/" in path
            absurd = small and found.st_size > _ABSURD
            if path.startswith(b"/") and (_never_ends(found) or absurd):
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


class _WildCards(NamedTuple):
    """How many wild cards of a rule are tried in all combinations."""

    in_a_name: int
    """Of one part of a path, where that has most."""
    of_directories: int
    """Of those that stand for any number of directories (`**`)."""

    def weight(self, deepest: int) -> int:
        """How many wild cards in one name cost as much, with paths of so many parts."""
        among = deepest + self.of_directories - 1
        ways = comb(_LONGEST_NAME, self.in_a_name) * comb(among, self.of_directories)
        return next((w for w in range(_MOST_COUNTED) if comb(_LONGEST_NAME, w) >= ways), _ENDLESS)


def _wild_cards(rule: bytes) -> _WildCards:
    parts = [] if rule.startswith(b"#") else rule.split(b"/")
    names = [len(_WILD_CARDS.findall(part)) for part in parts if part != b"**"]
    most = max(names, default=0), parts.count(b"**")
    return _WildCards(*(min(count, _MOST_COUNTED) for count in most))


def _waiting_for(root: Path, place: bytes, *others: Path) -> WaitingError:
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


TIME_LIMIT = 3600.0
_LISTING_LIMIT = 600
"""A listing reads no contents: no tree is so large that it takes longer."""
_FIRST_LOOK, _BETWEEN_LOOKS = 0.1, 1.0
"""After this time, twice of it and so on, it is looked whether git waits or burns for ever."""
_LAST_WORDS = 1.0
"""How long a git that has to end may take to put its own locks away."""
_NO_MEMORY = b"fatal: Out of memory"
_STDERR_SHOWN = 2000
_LONGEST_REASON = 300
_LOCKED = re.compile(rb"Unable to create '(.+\.lock)': File exists")
_FULL_BY_SIGNAL = {-signal.SIGXFSZ: "File too large"}
_HINT_FULL = "free some space and try again; what was begun is then finished or taken back"
_HINT_DAMAGED = (
    "something that git reads is damaged: other checkpoints may be whole, plan checkpoint list "
    "shows them; git fsck looks through your own repository"
)
_HINT_LOST = (
    "it is brought in once your repository has it again (git fetch, a backup); checkpoints that do "
    "not need it are whole, and a plan that does can be removed once its sandbox is moved away"
)


@dataclass(frozen=True, slots=True)
class Mending:
    """What became of the objects of which git has complained."""

    changed: bool = False
    """Whether anything is otherwise than git has found it."""
    lost: tuple[str, ...] = ()
    """Those that are damaged or missing, and cannot be brought in."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a finished git printed."""

    arguments: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes
    lost: tuple[str, ...] = ()
    """Objects of the checkpoint store that it needed and that nobody has any more."""

    @property
    def text(self) -> str:
        return os.fsdecode(self.stdout).strip()

    def records(self) -> list[bytes]:
        """NUL-terminated records."""
        return self.stdout.split(b"\0")[:-1]

    def complaint(self) -> str:
        said = self.stderr.decode("utf-8", "backslashreplace").strip()[:_STDERR_SHOWN]
        ended = f"exit code {self.code}"
        return said or (ended if self.code >= 0 else f"ended by {signal.Signals(-self.code).name}")

    def checked(self, *, quiet: bool = True) -> Output:
        """This output if git succeeded (and, if `quiet`, complained of nothing).

        A .gitignore or .gitattributes file that is a link or cannot be read is no failure.
        """
        self.refuse_if_locked()
        if self.code or (quiet and self.stderr and without_rules(self.stderr)):
            reason = self.complaint().splitlines()[0]
            if len(reason) > _LONGEST_REASON:
                # The name of a path deeper than the system allows, for one.
                reason = f"{reason[:_LONGEST_REASON]} …"
            word, details = command_word(self.arguments), {"stderr": self.complaint()}
            if full := full_disk(self.stderr) or _FULL_BY_SIGNAL.get(self.code):
                raise NoSpaceError(
                    f"{full}: git {word} could not write", hint=_HINT_FULL, details=details
                )
            if beyond := beyond_links(self.stderr):
                raise GitFailedError(
                    f"{os.fsdecode(beyond[0])!r} was changed while it was being looked at: "
                    "a directory above it became a link",
                    hint="try again when nobody else is at work there",
                    details=details,
                )
            if self.lost:
                raise GitFailedError(
                    f"object {self.lost[0]} of the checkpoint store is damaged or missing, and "
                    "your repository does not have it",
                    hint=_HINT_LOST,
                    details={**details, "objects": list(self.lost[:10])},
                )
            hint = _HINT_DAMAGED if is_of_damage(self.stderr) else None
            raise GitFailedError(f"git {word} failed: {reason}", hint=hint, details=details)
        return self

    def refuse_if_locked(self) -> None:
        """Raise if git failed because another git holds a lock that it needs."""
        held = _LOCKED.search(self.stderr) if self.code else None
        if held:
            raise git_busy(Path(os.fsdecode(held[1])), "holds what is needed")


class RunningGit:
    """A git process that was started and has still to be waited for."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        arguments: tuple[str, ...],
        watch: Watch | None = None,
        remedy: Callable[[Output], Output] | None = None,
    ) -> None:
        self._process = process
        self._remedy = remedy
        self._arguments = arguments
        self._watch = watch
        # Ctrl-C or an error may come before anybody waits for it: then it ends with its owner.
        self._on_abandon = weakref.finalize(self, _end, process, os.getpid())

    def ask(self, question: bytes) -> bytes:
        """Hand over a question and wait for one line; nothing comes if git has given up."""
        if self._process.stdout is None or not self.write(question):
            return b""
        return self._process.stdout.readline().rstrip(b"\n")

    def write(self, words: bytes) -> bool:
        """Hand over a few words, no more than a pipe holds; false if git has given up."""
        self._remedy = None
        if self._process.stdin is None:
            raise GitFailedError("this git takes no questions")
        try:
            self._process.stdin.write(words)
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        return True

    def take_stdout(self) -> IO[bytes]:
        """What it prints, for somebody else to read; `finish` then gives no output."""
        output, self._process.stdout = self._process.stdout, None
        self._remedy = None
        if output is None:
            raise GitFailedError("the output of git was handed over already")
        return output

    def finish(self) -> Output:
        try:
            out, err = self._communicate()
        except BaseException:
            self._on_abandon()
            raise
        self._on_abandon.detach()
        if self._watch is not None and _NO_MEMORY in err:
            self._watch.refuse_absurd()
        output = Output(self._arguments, self._process.returncode, out or b"", err)
        return self._remedy(output) if self._remedy is not None else output

    def _communicate(self) -> tuple[bytes, bytes]:
        word = command_word(self._arguments)
        left = _LISTING_LIMIT if word == "ls-files" else TIME_LIMIT
        patience = _FIRST_LOOK
        while left > 0:
            try:
                return self._process.communicate(timeout=min(patience, left))
            except subprocess.TimeoutExpired:
                if self._watch is not None:
                    self._watch.look()
            left, patience = left - patience, min(patience * 2, _BETWEEN_LOOKS)
        raise GitFailedError(
            f"git {word} did not end in time",
            hint="something in the sandbox, or its disk, keeps git waiting",
        )


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """End a git that nobody will wait for, unless it is that of the process we are a fork of."""
    if os.getpid() != owner:
        return
    with suppress(ProcessLookupError, PermissionError):
        # Git mostly runs in a process group of its own, so that its helpers end with it.
        is_group = os.getpgid(process.pid) == process.pid
        send = partial(os.killpg, process.pid) if is_group else process.send_signal
        # Asked to end, git takes away the locks that it holds, perhaps in the user's repository.
        send(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LAST_WORDS)
        send(signal.SIGKILL)
    process.wait()


@dataclass(frozen=True, slots=True)
class GitRunner:
    """Runs git with one environment, one set of settings and the locks that it must inherit."""

    environment: Mapping[str, str]
    settings: tuple[str, ...]
    cwd: Path
    lock_descriptors: tuple[int, ...] = field(default=())
    foreground: bool = False
    """Whether git stays in our process group, where a terminal lets it ask questions."""
    mend: Callable[[bytes], Mending] | None = None
    """What may put right that of which git complains; it is then started once more."""

    def start(
        self,
        *arguments: str,
        extra: Mapping[str, str] | None = None,
        stdin: IO[bytes] | bytes | None = None,
    ) -> RunningGit:
        """Start git without waiting; `extra` adds to the environment."""
        environment = {**self.environment, **(extra or {})}
        with undisturbed(), _readable(stdin) as source:
            process = subprocess.Popen(
                [git_executable(), *settings_arguments(self.settings), *arguments],
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd=self.cwd,
                # An orphaned git keeps the sandbox locked until it ends.
                pass_fds=self.lock_descriptors,
                process_group=None if self.foreground else 0,
            )
            watch = Watch(process.pid, arguments, environment, self.cwd)
            remedy = None
            if self.mend is not None and (stdin is None or isinstance(stdin, bytes)):
                remedy = partial(self._remedied, extra, stdin, self.mend)
            return RunningGit(process, arguments, None if self.foreground else watch, remedy)

    def _remedied(
        self,
        extra: Mapping[str, str] | None,
        stdin: bytes | None,
        mend: Callable[[bytes], Mending],
        output: Output,
    ) -> Output:
        """What git says once nothing is left that can be put right for it."""
        plain, mending = replace(self, mend=None), Mending()
        while output.stderr and is_of_damage(output.stderr):
            mending = mend(output.stderr)
            if not mending.changed:
                break
            output = plain.run(*output.arguments, stdin=stdin, extra=extra)
        return replace(output, lost=mending.lost)

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> Output:
        """Run git to its end; the caller looks at the return code."""
        return self.start(*arguments, extra=extra, stdin=stdin).finish()

    def feed(
        self,
        other: GitRunner,
        producer: Sequence[str],
        consumer: Sequence[str],
        *,
        stdin: bytes,
        extra: Mapping[str, str] | None = None,
    ) -> None:
        """Let another git read what this one prints, which may be more than memory holds."""
        made = self.start(*producer, extra=extra, stdin=stdin)
        with made.take_stdout() as output:
            eaten = other.start(*consumer, stdin=output)
        first, second = made.finish(), eaten.finish()
        first.checked()
        second.checked()

    def call(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> Output:
        """Run git, which must succeed and complain of nothing."""
        return self.run(*arguments, stdin=stdin, extra=extra).checked()


@contextmanager
def _readable(source: IO[bytes] | bytes | None) -> Generator[IO[bytes] | int]:
    """What git reads: all of it lies ready in a file, so that nobody has to go on feeding it."""
    if source is None:
        yield subprocess.PIPE
    elif isinstance(source, bytes):
        with _nameless() as file:
            file.write(source)
            file.seek(0)
            yield file
    else:
        yield source


def _nameless() -> IO[bytes]:
    """A file without a name: in memory where the system has such files."""
    if sys.platform == "linux":
        return open(os.memfd_create("backtrail"), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)


def command_word(arguments: Sequence[str]) -> str:
    """The subcommand, behind any `-c name=value`."""
    at = 0
    while arguments[at] == "-c":
        at += 2
    return arguments[at]


def nul_joined(items: Sequence[bytes]) -> bytes:
    return b"".join(item + b"\0" for item in items)
