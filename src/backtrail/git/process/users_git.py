"""Git as the user runs it, with their configuration, filters and environment.

What decides is the configuration of their repository and their own, never that of a sandbox: the
git directory is always given, so that no `.git` found on the way is asked. Hooks run only where a
commit is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from backtrail.git.process.environment import quoted_path
from backtrail.git.process.runner import GitRunner

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.fsync=all",
    "core.quotePath=false",
    "gc.auto=0",
    "maintenance.auto=false",
)


@dataclass(frozen=True, slots=True)
class UsersGit:
    """The user's repository and what git is given besides."""

    common_dir: Path
    environment: Mapping[str, str]
    lock_descriptors: tuple[int, ...] = ()
    quarantine: Path | None = None
    """Where new objects go, so that a look leaves none in the repository."""

    def quarantined(self, directory: Path) -> UsersGit:
        return replace(self, quarantine=directory)

    def on(self, work_tree: Path, index: Path, git_dir: Path | None = None) -> GitRunner:
        """Git for a work tree and an index, by default under the repository's configuration."""
        environment = {
            **self.environment,
            # Messages that are read here; whatever else the locale decides stays as it is.
            "LANGUAGE": "en",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_DIR": str(git_dir or self.common_dir),
            "GIT_WORK_TREE": str(work_tree),
            "GIT_INDEX_FILE": str(index),
            **self._objects(),
        }
        return GitRunner(environment, _SETTINGS, work_tree, self.lock_descriptors)

    def plumbing(self) -> GitRunner:
        """For questions that no work tree and no index has to do with."""
        return self.on(self.common_dir, self.common_dir / "index")

    def _objects(self) -> dict[str, str]:
        if self.quarantine is None:
            return {}
        self.quarantine.mkdir(exist_ok=True)
        return {
            "GIT_OBJECT_DIRECTORY": str(self.quarantine),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted_path(self.common_dir / "objects"),
        }

    def committing(self, work_tree: Path, hooks: Path) -> GitRunner:
        """Git for one commit in a work tree of its own, with these hooks.

        Git and the hooks stay in our process group, so that a key's passphrase can be asked for;
        they get none of our locks, which something that a hook leaves running would keep.
        """
        settings = (f"core.hooksPath={hooks}", *_SETTINGS[1:])
        environment = {**self.environment, "GIT_EDITOR": ":"}
        return GitRunner(environment, settings, work_tree, foreground=True)
