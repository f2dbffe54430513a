"""The one place that starts git: fixed argument lists, a time limit, every return code looked at.

Anything on standard error counts as a failure unless the caller says which lines it understands,
since git skips unreadable directories with return code 0 and a warning only.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import weakref
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from backtrail.domain.errors import GitFailedError, NoSpaceError
from backtrail.git.complaints import full_disk, is_of_damage, without_rules
from backtrail.git.env import git_executable, settings_arguments
from backtrail.git.locks import git_busy
from backtrail.git.stuck import Watch
from backtrail.git.undisturbed import undisturbed

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

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


@dataclass(frozen=True, slots=True)
class Output:
    """What a finished git printed."""

    arguments: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        return os.fsdecode(self.stdout).strip()

    def records(self) -> list[bytes]:
        """NUL-terminated records."""
        return self.stdout.split(b"\0")[:-1]

    def complaint(self) -> str:
        said = self.stderr.decode("utf-8", "backslashreplace").strip()
        return said[:_STDERR_SHOWN] or _ended(self.code)

    def checked(self, *, quiet: bool = True) -> Output:
        """This output if git succeeded (and, if `quiet`, complained of nothing).

        A .gitignore or .gitattributes file that is a link or cannot be read is no failure.
        """
        self.refuse_if_locked()
        if self.code or (quiet and self.stderr and without_rules(self.stderr)):
            told = self.complaint().splitlines()[0]
            if len(told) > _LONGEST_REASON:
                # The name of a path deeper than the system allows, for one.
                told = f"{told[:_LONGEST_REASON]} …"
            word, details = command_word(self.arguments), {"stderr": self.complaint()}
            if full := full_disk(self.stderr) or _FULL_BY_SIGNAL.get(self.code):
                raise NoSpaceError(
                    f"{full}: git {word} could not write", hint=_HINT_FULL, details=details
                )
            hint = _HINT_DAMAGED if is_of_damage(self.stderr) else None
            raise GitFailedError(f"git {word} failed: {told}", hint=hint, details=details)
        return self

    def refuse_if_locked(self) -> None:
        """Raise if git failed because another git holds a lock that it needs."""
        held = _LOCKED.search(self.stderr) if self.code else None
        if held:
            raise git_busy(Path(os.fsdecode(held[1])), "holds what is needed")


def _ended(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"ended by {signal.Signals(-code).name}"


class RunningGit:
    """A git process that was started and has still to be waited for."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        arguments: tuple[str, ...],
        watch: Watch | None = None,
    ) -> None:
        self._process = process
        self._arguments = arguments
        self._watch = watch
        # Ctrl-C or an error may come before anybody waits for it: then it ends with its owner.
        self._abandoned = weakref.finalize(self, _end, process, os.getpid())

    def ask(self, question: bytes) -> bytes:
        """Hand over a question and wait for one line; nothing comes if git has given up."""
        if self._process.stdout is None or not self.tell(question):
            return b""
        return self._process.stdout.readline().rstrip(b"\n")

    def tell(self, words: bytes) -> bool:
        """Hand over a few words, no more than a pipe holds; false if git has given up."""
        if self._process.stdin is None:
            raise GitFailedError("this git takes no questions")
        try:
            self._process.stdin.write(words)
            self._process.stdin.flush()
        except BrokenPipeError:
            return False
        return True

    def handed_over(self) -> IO[bytes]:
        """What it prints, for somebody else to read; `finish` then gives no output."""
        output, self._process.stdout = self._process.stdout, None
        if output is None:
            raise GitFailedError("the output of git was handed over already")
        return output

    def finish(self) -> Output:
        try:
            out, err = self._communicate()
        except BaseException:
            self._abandoned()
            raise
        self._abandoned.detach()
        if self._watch is not None and _NO_MEMORY in err:
            self._watch.refuse_absurd()
        return Output(self._arguments, self._process.returncode, out or b"", err)

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
        tell = partial(os.killpg, process.pid) if is_group else process.send_signal
        # Asked to end, git takes away the locks that it holds, perhaps in the user's repository.
        tell(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LAST_WORDS)
        tell(signal.SIGKILL)
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
            return RunningGit(process, arguments, None if self.foreground else watch)

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
        with made.handed_over() as output:
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
