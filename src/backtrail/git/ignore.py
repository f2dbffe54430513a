"""Ignore rules: the user's own, read without running their configuration, and a checkpoint's."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.git.env import scrubbed_environment
from backtrail.git.paths import lstat_inside, parents_of
from backtrail.git.runner import GitRunner, RunningGit
from backtrail.git.trees import TreeEntry, read_blobs

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence

    from backtrail.git.store import PrivateStore

_UNSET = 1
_RULES_FILE = b".gitignore"


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
class ExcludesQuestion:
    """A question to git for the user's excludes that is under way."""

    common_dir: Path
    user: UserSettings
    running: RunningGit

    def answer(self) -> bytes:
        """The user's global excludes, then the repository's: last match wins, so in this order."""
        return b"\n".join(
            (_contents(self._global_file()), _contents(self.common_dir / "info" / "exclude"))
        )

    def _global_file(self) -> Path | None:
        output = self.running.finish()
        if output.code == _UNSET:
            configuration = self.user.configuration_directory()
            return configuration / "git" / "ignore" if configuration else None
        value = output.checked(quiet=False).stdout.rstrip(b"\n")
        return Path(os.path.join(self.common_dir, os.fsdecode(value))) if value else None


def ask_excludes(common_dir: Path, user: UserSettings) -> ExcludesQuestion:
    """Ask for the one setting that decides what the user's ignored files are."""
    running = configuration_reader(common_dir, user).start(
        "config", "--type=path", "--get", "core.excludesFile"
    )
    return ExcludesQuestion(common_dir, user, running)


def configuration_reader(common_dir: Path, user: UserSettings) -> GitRunner:
    """Git under the user's own configuration, for `git config --get` alone, which runs nothing."""
    environment = {k: v for k, v in scrubbed_environment().items() if "CONFIG" not in k}
    if user.home is not None:
        environment["HOME"] = user.home
    if user.xdg_config_home:
        environment["XDG_CONFIG_HOME"] = user.xdg_config_home
    environment.update(user.configuration_variables)
    return GitRunner({**environment, "GIT_DIR": str(common_dir)}, (), common_dir)


def _contents(path: Path | None) -> bytes:
    try:
        return path.read_bytes() if path else b""
    except OSError:
        # Git, too, goes on without an excludes file that is missing or cannot be read.
        return b""


@contextmanager
def excludes_setting(store: PrivateStore, excludes: bytes) -> Generator[str]:
    """A `-c` setting that makes these excludes hold, on top of the .gitignore files."""
    with scratch_directory(store) as directory:
        path = directory / "excludes"
        path.write_bytes(excludes)
        yield f"core.excludesFile={path}"


@contextmanager
def scratch_directory(store: PrivateStore) -> Generator[Path]:
    path = Path(tempfile.mkdtemp(dir=store.layout.scratch))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def ignored_at(
    store: PrivateStore, files: Iterable[TreeEntry], excludes: bytes, candidates: Sequence[bytes]
) -> set[bytes]:
    """Those of the candidate paths that the rules of a checkpoint with these files ignore.

    Exact for odd names, too: git itself looks at a scratch tree that holds the checkpoint's
    .gitignore files and an empty file in the place of each candidate.
    """
    if not candidates:
        return set()
    entries = [entry for entry in files if _is_rules_file(entry)]
    contents = read_blobs(store, [entry.object_id for entry in entries])
    rules = {e.path: content for e, content in zip(entries, contents, strict=True)}
    return _ignored_by(store, rules, excludes, candidates)


def ignored_here(
    store: PrivateStore, root: Path, excludes: bytes, candidates: Sequence[bytes]
) -> set[bytes]:
    """Those of the candidate paths that the sandbox's present rules ignore, whatever is there."""
    rules: dict[bytes, bytes] = {}
    for directory in {b"", *(parent for path in candidates for parent in parents_of(path))}:
        name = os.path.join(directory, _RULES_FILE)
        found = lstat_inside(root, name)
        if found is not None and stat.S_ISREG(found.st_mode):
            rules[name] = _contents(root / os.fsdecode(name))
    return _ignored_by(store, rules, excludes, candidates)


def _ignored_by(
    store: PrivateStore,
    rules: Mapping[bytes, bytes],
    excludes: bytes,
    candidates: Sequence[bytes],
) -> set[bytes]:
    with scratch_directory(store) as directory, excludes_setting(store, excludes) as setting:
        root = directory / "tree"
        root.mkdir()
        for path, content in (*rules.items(), *((path, b"") for path in candidates)):
            _place(os.fsencode(root), path, content)
        runner = store.git(root, directory / "index")
        shown = runner.call("-c", setting, "ls-files", "-o", "-z", "--exclude-standard")
    return set(candidates) - set(shown.records())


def _is_rules_file(entry: TreeEntry) -> bool:
    # Git does not follow a .gitignore that is a symbolic link.
    path = entry.path
    return path.endswith(_RULES_FILE) and entry.is_file and path.split(b"/")[-1] == _RULES_FILE


def _place(root: bytes, path: bytes, content: bytes) -> None:
    full = os.path.join(root, path)
    try:
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "xb") as file:
            file.write(content)
    except (FileExistsError, NotADirectoryError):
        # A candidate in the place of a directory of the checkpoint: it is in the way of what
        # comes back, so it cannot be left alone, and leaving it out here says so.
        return
