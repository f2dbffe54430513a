"""Ignore rules: the user's own, and those of .gitignore files that hide themselves."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from backtrail.git.osfiles.beneath import Beneath
from backtrail.git.osfiles.plain_files import LONGEST_RULES, NotPlainError, read_plain
from backtrail.git.process.environment import scrubbed_environment
from backtrail.git.process.runner import GitRunner, RunningGit
from backtrail.git.store.store import PrivateStore, scratch_directory

UNSET = 1
"""What `git config --get` ends with where nothing is set."""


@dataclass(frozen=True, slots=True)
class UserSettings:
    """Where the user's own git configuration lives; read once by the composition root."""

    home: str | None
    xdg_config_home: str | None
    configuration_variables: tuple[tuple[str, str], ...] = ()
    """GIT_CONFIG_GLOBAL and the like, where the user has set them."""

    def configuration_directory(self) -> Path | None:
        if self.xdg_config_home:
            return Path(self.xdg_config_home)
        return Path(self.home) / ".config" if self.home else None


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """What decides, besides the .gitignore files that are captured, which files are ignored."""

    excludes: bytes
    ignore_case: bool = False
    """Whether capitals make no difference (`core.ignorecase`)."""
    hidden: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The .gitignore files that are themselves ignored, so that no tree holds them."""


@dataclass(frozen=True, slots=True)
class ConfiguredPlace:
    """A checkout, with the git directories whose settings hold in it."""

    root: Path
    git_dir: Path
    common_dir: Path


@dataclass(frozen=True, slots=True)
class RulesQuestion:
    """Questions to git for the user's ignore rules that are under way."""

    place: ConfiguredPlace
    user: UserSettings
    file_asked: RunningGit
    case_asked: RunningGit

    def answer(self) -> IgnoreRules:
        """The user's global excludes, then the repository's: last match wins, so in this order."""
        own = self.place.common_dir / "info" / "exclude"
        excludes = b"\n".join((_excludes(self._global_file()), _excludes(own)))
        return IgnoreRules(excludes, ignore_case=self.case_asked.finish().text == "true")

    def _global_file(self) -> Path | None:
        output = self.file_asked.finish()
        if output.code == UNSET:
            configuration = self.user.configuration_directory()
            return configuration / "git" / "ignore" if configuration else None
        value = output.checked(quiet=False).stdout.rstrip(b"\n")
        # Git takes a relative name from where it works, which is the root of the checkout.
        return Path(os.path.join(self.place.root, os.fsdecode(value))) if value else None


def ask_rules(place: ConfiguredPlace, user: UserSettings) -> RulesQuestion:
    """Ask for the settings that decide what the user's ignored files are."""
    # A worktree may have settings of its own, but not a common directory of its own choice.
    common = {"GIT_COMMON_DIR": str(place.common_dir)}
    reader = configuration_reader(place.git_dir, user)
    return RulesQuestion(
        place,
        user,
        reader.start("config", "--type=path", "--get", "core.excludesFile", extra=common),
        reader.start("config", "--type=bool", "--get", "core.ignorecase", extra=common),
    )


def configuration_reader(git_dir: Path, user: UserSettings) -> GitRunner:
    """Git under the user's own configuration, for `git config --get` alone, which runs nothing."""
    environment = {k: v for k, v in scrubbed_environment().items() if "CONFIG" not in k}
    if user.home is not None:
        environment["HOME"] = user.home
    if user.xdg_config_home:
        environment["XDG_CONFIG_HOME"] = user.xdg_config_home
    environment.update(user.configuration_variables)
    return GitRunner({**environment, "GIT_DIR": str(git_dir)}, (), git_dir)


def _excludes(path: Path | None) -> bytes:
    # Git skips the mark at the beginning of a file, but not where two files meet.
    return lines_at(path).removeprefix(codecs.BOM_UTF8) if path else b""


def lines_at(path: Path) -> bytes:
    """What a file of rules or attributes says: git, too, goes on without one it cannot read."""
    try:
        return read_plain(path, LONGEST_RULES)
    except (OSError, NotPlainError):
        return b""


@contextmanager
def rules_in_force(store: PrivateStore, rules: IgnoreRules) -> Generator[tuple[str, ...]]:
    """Arguments under which git follows these rules, on top of the .gitignore files."""
    with scratch_directory(store) as directory:
        path = directory / "excludes"
        path.write_bytes(rules.excludes)
        case = ("-c", "core.ignoreCase=true") if rules.ignore_case else ()
        yield ("-c", f"core.excludesFile={path}", *case)


RULES_FILE = b".gitignore"


def is_rules_file(path: bytes) -> bool:
    return path.endswith(RULES_FILE) and path.split(b"/")[-1] == RULES_FILE


def read_rules_files(root: Path, paths: Iterable[bytes]) -> dict[str, bytes]:
    """What these files say, as far as git would listen: links and special files say nothing."""
    with Beneath(root) as inside:
        found = [(os.fsdecode(path), _text(inside, path)) for path in sorted(paths)]
    return {path: text for path, text in found if text}


def _text(inside: Beneath, path: bytes) -> bytes:
    try:
        directory, name = inside.above(path)
        # A FIFO in the place of the file would block a plain reading for ever.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW
        with open(os.open(name, flags, dir_fd=directory), "rb") as file:
            return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""
