"""Ownership as git judges it: in somebody else's repository nothing is read, run or made.

An explicit GIT_DIR turns git's own check off, so that it has to be made here. What belongs to the
user is told without git. Of all else git itself is asked: it reads `safe.directory` at system,
global and command scope, and gives up before it reads any configuration of the repository.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from backtrail.domain.errors import GitFailedError, RefusedError
from backtrail.git.process.runner import GitRunner
from backtrail.git.user.discovery import main_place

_ROOT = 0
_REFUSED = ("dubious ownership", "unsafe repository")
_ADVICE = "git config --global --add safe.directory "


@dataclass(frozen=True, slots=True)
class Ownership:
    """Who is asking, by the environment in which their git would run."""

    environ: Mapping[str, str]

    def refuse_foreign(self, root: Path, git_dir: Path, common_dir: Path) -> None:
        """Refuse a checkout, or a repository behind it, in which git would refuse to work."""
        main = main_place(common_dir)
        at_root = (git_dir,) if root == git_dir else (root, root / ".git", git_dir)
        if not all(map(self._is_own, at_root)):
            self._ask(root, at_root)
        elif not all(map(self._is_own, (main, common_dir))):
            self._ask(main, (main, common_dir))

    def _is_own(self, path: Path) -> bool:
        try:
            owner = path.lstat().st_uid
        except OSError:
            return False
        # Root may be somebody's by sudo; what git cannot read as a number is nobody.
        caller = self.environ.get("SUDO_UID", "")
        number = int(caller) if caller.isascii() and caller.isdigit() else None
        user = os.geteuid()
        return owner == user or (user == _ROOT and owner == number)

    def _ask(self, place: Path, judged: Iterable[Path]) -> None:
        """Let git judge a place, under nothing but what the user's own configuration says."""
        kept = {
            name: value
            for name, value in self.environ.items()
            if not name.startswith("GIT_") or name.startswith("GIT_CONFIG_")
        }
        environment = {**kept, "LC_ALL": "C", "LANGUAGE": "C"}
        output = GitRunner(environment, (), place).run("rev-parse", "--git-dir")
        if output.code == 0:
            return
        said = output.complaint()
        if not any(words in said for words in _REFUSED):
            raise GitFailedError(
                f"git does not work in {str(place)!r}: {said.splitlines()[0]}",
                hint=f"git -C {shlex.quote(str(place))} status says what is wrong",
                details={"stderr": said},
            )
        foreign = next((path for path in judged if not self._is_own(path)), place)
        lines = (line.strip() for line in said.splitlines())
        advice = next((line for line in lines if line.startswith(_ADVICE)), None)
        raise RefusedError(
            f"{str(foreign)!r} belongs to another user, and git does not work in such a repository",
            hint=f"if you trust it: {advice or _ADVICE + shlex.quote(str(place))}",
            details={"path": str(foreign), "stderr": said},
        )
