"""Plain git, as a user without any settings would have it.

The demonstration runs a git of its own, so that its witness shares nothing with what it watches.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from backtrail.domain.errors import GitFailedError

IDENTITY = "Backtrail", "backtrail@localhost"


def demo_environment(place: Path) -> dict[str, str]:
    """Surroundings in which nothing of the user's is found: no configuration, no identity."""
    name, email = IDENTITY
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(place),
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
    }


@dataclass(frozen=True, slots=True)
class PlainGit:
    """Git in one checkout."""

    environment: dict[str, str]
    checkout: Path

    def __call__(self, *arguments: str, may_find_nothing: bool = False) -> str:
        """What git prints; whoever asks for what may be missing gets nothing then."""
        try:
            done = subprocess.run(
                ["git", *arguments],
                cwd=self.checkout,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        except FileNotFoundError as error:
            raise GitFailedError(
                "git is not installed", hint="install git 2.39 or newer"
            ) from error
        if done.returncode and not (may_find_nothing and done.returncode == 1):
            said = os.fsdecode(done.stderr).strip() or f"exit code {done.returncode}"
            raise GitFailedError(
                f"git {arguments[0]} failed: {said.splitlines()[0]}",
                details={"stderr": said},
            )
        return os.fsdecode(done.stdout).strip()


def demo_git(place: Path, checkout: Path) -> PlainGit:
    return PlainGit(demo_environment(place), checkout)
