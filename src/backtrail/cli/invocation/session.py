"""What one invocation of the program knows: its options, its surroundings, its services."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Self

from backtrail.cli.render.streams import is_terminal
from backtrail.cli.render.text import safe
from backtrail.domain.errors import FailedError, UsageError
from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints

if TYPE_CHECKING:
    from rich.status import Status

    from backtrail.bootstrap import Services
    from backtrail.config.effective import EffectiveSettings
    from backtrail.services.database import DatabaseService


WRAPPERS = frozenset({"run", "resume", "tool"})
"""Commands that run another one: its exit codes are theirs."""


class Progress:
    """Shows the newest stage; leaves no trace once stopped."""

    def __init__(self) -> None:
        self.wanted = True
        self._status: Status | None = None

    def show(self, stage: str) -> None:
        if not self.wanted or not is_terminal(sys.stderr):
            return
        from rich.text import Text

        text = Text(f"{safe(stage)} …", style="dim")
        if self._status is None:
            from rich.console import Console

            self._status = Console(stderr=True).status(text)
            self._status.start()
        else:
            self._status.update(text)

    def stop(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Format(StrEnum):
    """How output looks."""

    RICH = "rich"
    PLAIN = "plain"
    JSON = "json"


@dataclass(slots=True)
class Session:
    """Filled while the command line is parsed; an inner option overrides an outer one."""

    program: str
    argv: tuple[str, ...]
    """All words, as typed."""
    environ: Mapping[str, str]
    failpoints: Failpoints = NO_FAILPOINTS
    directory: Path | None = None
    chosen_format: Format | None = None
    quiet: bool = False
    verbose: bool = False
    command: str | None = None
    trailing: tuple[str, ...] = ()
    """What stood behind `--`, for a command that runs another one."""
    result_file: Path | None = None
    """Where the envelope goes instead of standard output."""
    messages: list[str] = field(default_factory=list[str])
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    progress: Progress = field(default_factory=Progress)
    _clock: float = field(default_factory=time.monotonic)

    def apply(
        self, directory: Path | None, format: Format | None, *, quiet: bool, verbose: bool
    ) -> None:
        """Take over the options for all that one level of the command line has."""
        self.directory = directory or self.directory
        self.chosen_format = format or self.chosen_format
        self.quiet = self.quiet or quiet
        self.verbose = self.verbose or verbose
        self.progress.wanted = not self.quiet and self.format is not Format.JSON

    def check(self) -> None:
        """Refuse an unknown PLAN_FORMAT, unless an option makes it irrelevant."""
        wish = self.environ.get("PLAN_FORMAT")
        if wish and self.chosen_format is None and _format_named(wish) is None:
            raise UsageError(
                f"PLAN_FORMAT is {wish!r}, which is not a format",
                hint=f"use one of {', '.join(Format)}",
            )

    @property
    def format(self) -> Format:
        if self.chosen_format is not None:
            return self.chosen_format
        wish = _format_named(self.environ.get("PLAN_FORMAT", ""))
        return wish or (Format.RICH if is_terminal(sys.stdout) else Format.PLAIN)

    def assume_format_of_argv(self) -> None:
        """Believe a `--format` that Typer did not get to, so that its error is readable."""
        said = self._said("--format")
        self.chosen_format = _format_named(said[-1]) if said else self.chosen_format

    def assume_result_file_of_argv(self) -> None:
        """The same for a `--result`: what an earlier command wrote there must not stay."""
        for name in self._said("--result")[-1:]:
            with suppress(UsageError, FailedError):
                self.take_result_file(Path(name))

    def _said(self, option: str) -> list[str]:
        """Every value of an option, as far as the words are ours."""
        words = self.argv[: self.argv.index("--")] if "--" in self.argv else self.argv
        followed = zip(words, (*words[1:], ""), strict=True)
        start = f"{option}="
        return [
            value if word == option else word.removeprefix(start)
            for word, value in followed
            if word == option or word.startswith(start)
        ]

    def take_result_file(self, file: Path | None) -> None:
        """Where the envelope is to go; that it cannot is told before anything is run."""
        if file is None:
            return
        # What a link leads to is written, and the link stays.
        place, name = (self.start / file).resolve(), f"--result {str(file)!r}"
        if place.exists() and not place.is_file():
            # It would be put in the place of a device or a pipe, too.
            raise UsageError(f"{name} is not a plain file", hint="name a file")
        if not place.parent.is_dir():
            raise UsageError(f"the directory of {name} does not exist", hint="make it first")
        if not os.access(place.parent, os.W_OK):
            raise UsageError(
                f"nothing can be written in the directory of {name}", hint="name another one"
            )
        self.result_file = place

    @property
    def interactive(self) -> bool:
        """Whether a question can be asked: JSON is read by programs, and they cannot answer."""
        asks = is_terminal(sys.stdin) and is_terminal(sys.stderr)
        return asks and self.format is not Format.JSON

    @property
    def start(self) -> Path:
        """The directory to work from, as `git -C` understands it."""
        try:
            return Path.cwd() / (self.directory or "")
        except FileNotFoundError as error:
            if self.directory is not None and self.directory.is_absolute():
                return self.directory
            raise FailedError(
                "the current directory does not exist any more",
                hint="change to another directory, or name one with -C PATH",
            ) from error

    @property
    def command_line(self) -> str:
        return shlex.join((self.program, *self.argv))

    @property
    def duration_ms(self) -> int:
        return round((time.monotonic() - self._clock) * 1000)

    @contextmanager
    def services(
        self, *, make: bool = False, lenient: bool = False, to_capture: Path | None = None
    ) -> Generator[Services]:
        """The services, closed afterwards; what recovery did is kept to be told.

        Only with `make` is anything made in a repository that has no plans yet. With `lenient`,
        for commands that only read rows, a wrong `plan.toml` is told and does not stop them.
        A checkout that is `to_capture` must not hold what would be made.
        """
        from backtrail.bootstrap import open_services, own_files

        with self.progress:
            services = open_services(
                self.start,
                self.environ,
                command_line=self.command_line,
                failpoints=self.failpoints,
                progress=self.progress.show,
                make=make,
                tolerated=self.messages if lenient else None,
                to_capture=to_capture,
            )
            try:
                with own_files(services.workspace.layout.home):
                    yield services
            finally:
                self.messages.extend(services.notices)
                services.close()

    def configuration(self) -> EffectiveSettings:
        from backtrail.bootstrap import open_configuration

        return open_configuration(self.start, self.environ)

    def database(self) -> DatabaseService:
        from backtrail.bootstrap import open_database_admin

        return open_database_admin(self.start, self.environ)


def _format_named(text: str) -> Format | None:
    return Format(text) if text in set(Format) else None


def command_words(command_path: str) -> str | None:
    """`checkpoint create` from `plan checkpoint create`; None for the program itself."""
    return " ".join(command_path.split()[1:]) or None
