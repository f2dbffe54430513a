"""The user's hooks for a commit of theirs: which there are, and how each is run at its time."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.git.ignore import UserSettings, configuration_reader

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = ("pre-commit", "prepare-commit-msg", "commit-msg")
AFTER = "post-commit"


@dataclass(frozen=True, slots=True)
class Hooks:
    """Those that there are, by name."""

    directory: Path
    names: frozenset[str]

    def wrap(self, directory: Path) -> None:
        """Let a directory hold those that run before a commit is on its branch.

        Each is called by its own name, since many look for files beside themselves.
        """
        directory.mkdir()
        for name in self.names.intersection(BEFORE):
            wrapper = directory / name
            wrapper.write_text(f'#!/bin/sh\nexec {shlex.quote(str(self.directory / name))} "$@"\n')
            wrapper.chmod(0o700)


def find_hooks(common_dir: Path, user: UserSettings, root: Path) -> Hooks:
    """The hooks of the repository; a relative folder is the one in the user's own checkout.

    Not the one among the files to be committed: an agent may have written those.
    """
    reader = configuration_reader(common_dir, user)
    configured = reader.run("config", "--type=path", "--get", "core.hooksPath").text
    directory = root / configured if configured else common_dir / "hooks"
    present = (name for name in (*BEFORE, AFTER) if os.access(directory / name, os.X_OK))
    return Hooks(directory, frozenset(present))
