"""The demonstration's own witness: what is on the disk and what plain git says, nothing else.

It shares no code with the proof that a rollback makes of itself, so that it can contradict it.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backtrail.demo.values import Check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backtrail.demo.plain_git import PlainGit


HEAD, BRANCH, STAGED, STATUS = "HEAD", "the branch", "what is staged", "git status"


@dataclass(frozen=True, slots=True)
class Seen:
    """One path: what it is, its permission bits, and its bytes or where it points."""

    kind: str
    mode: int
    content: bytes

    def __str__(self) -> str:
        return f"a {self.kind} of {len(self.content)} bytes, mode {self.mode:o}"


@dataclass(frozen=True, slots=True)
class Picture:
    """A checkout at one moment."""

    paths: dict[str, Seen]
    git: dict[str, str]

    def differing(self, found: Picture) -> list[str]:
        """The paths and the facts of git that are not the same in another picture."""
        mine, others = {**self.paths, **self.git}, {**found.paths, **found.git}
        return sorted(name for name in {*mine, *others} if mine.get(name) != others.get(name))

    def complaints(self, found: Picture) -> list[str]:
        """What is not as in this picture, in words."""
        return [self._complaint(name, found) for name in self.differing(found)]

    def _complaint(self, name: str, found: Picture) -> str:
        if name in self.git:
            return f"{name}: {found.git.get(name)!r} instead of {self.git[name]!r}"
        expected, is_now = self.paths.get(name), found.paths.get(name)
        if expected is None:
            return f"{name}: it should not be there"
        if is_now is None:
            return f"{name}: it is missing"
        if str(expected) == str(is_now):
            return f"{name}: it has other bytes"
        return f"{name}: {is_now} instead of {expected}"

    def check(self, expected: str) -> Check:
        return Check(expected, len(self.paths), sum(len(s.content) for s in self.paths.values()))


def look(git: PlainGit, branch: str) -> Picture:
    """The checkout in which a plain git works: every path below it, and what git says of it."""
    return Picture(dict(_walk(git.checkout)), _ask(git, branch))


def _walk(root: Path) -> Iterator[tuple[str, Seen]]:
    for folder, folders, files in os.walk(root, onerror=_raise):
        if folder == str(root):
            # A directory in the main checkout, a file in every other.
            for names in (folders, files):
                names[:] = [name for name in names if name != ".git"]
        for name in (*folders, *files):
            path = Path(folder, name)
            yield str(path.relative_to(root)), _seen(path)


def _raise(error: OSError) -> None:
    # os.walk would skip a directory that it cannot read, and the witness would miss it.
    raise error


def _seen(path: Path) -> Seen:
    info = path.lstat()
    mode = stat.S_IMODE(info.st_mode)
    if stat.S_ISLNK(info.st_mode):
        target = os.readlink(path)  # noqa: PTH115 - a Path would tidy the target up
        return Seen("link", 0, os.fsencode(target))
    if stat.S_ISDIR(info.st_mode):
        return Seen("directory", mode, b"")
    if not stat.S_ISREG(info.st_mode):
        return Seen("special file", mode, b"")
    return Seen("file", mode, path.read_bytes())


def _ask(git: PlainGit, branch: str) -> dict[str, str]:
    tip = git("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}", may_find_nothing=True)
    staged = git("diff", "--cached", "--raw", "--no-abbrev")
    status = git("status", "--porcelain=v2", "--branch", "--untracked-files=all", "--ignored")
    lines = status.splitlines()
    return {
        # The commit, and the branch or that there is none.
        HEAD: " ".join(line.split()[-1] for line in lines if line.startswith("# branch.")),
        BRANCH: tip or "none",
        STAGED: staged,
        STATUS: "\n".join(line for line in lines if not line.startswith("# ")),
    }
