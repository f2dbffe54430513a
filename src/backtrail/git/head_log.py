"""The log that git keeps of HEAD, from which `git status` tells what a detached HEAD was before.

Whoever works in the sandbox can write there: it is read within bounds and through no link, and
nothing is taken from it but what can be the name of a ref.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backtrail.domain.ids import CommitId
from backtrail.git.paths import first_obstacle, lstat_inside
from backtrail.git.plain_files import NotPlainError, open_plain

if TYPE_CHECKING:
    from pathlib import Path

_LOG = b"logs/HEAD"
_LOOKED_AT = 1024**2
"""Of a longer log only so many bytes at its end: thousands of moves of HEAD."""
_LONGEST_NAME = 4096
_CHECKOUT = re.compile(
    rb"[0-9a-f]+ ([0-9a-f]{40}|[0-9a-f]{64}) [^>]*> [0-9]+ [+-][0-9]{4}\t"
    rb"checkout: moving from .*? to (.*)"
)
_NO_NAME = re.compile(rb"[\0-\x20\x7f]")


@dataclass(frozen=True, slots=True)
class DetachedFrom:
    """What was checked out last, by name and as a commit: `git status` says `detached from` it."""

    name: str
    commit: CommitId


def read_detached_from(git_dir: Path) -> DetachedFrom | None:
    """What git would say that a detached HEAD was detached from; None if it would not know."""
    lines = reversed(_end_of_log(git_dir).split(b"\n"))
    found = next(filter(None, map(_CHECKOUT.fullmatch, lines)), None)
    if found is None:
        return None
    commit, name = found.groups()
    if not 0 < len(name) <= _LONGEST_NAME or _NO_NAME.search(name):
        # No ref has such a name, and of what is no ref git tells the commit alone.
        name = commit
    return DetachedFrom(os.fsdecode(name), CommitId(commit.decode()))


def log_leads_nowhere(git_dir: Path) -> bool:
    """Whether the log is a file of its own, or absent: nothing elsewhere is read or written."""
    try:
        if first_obstacle(git_dir, _LOG) is not None:
            return False
        found = lstat_inside(git_dir, _LOG)
    except PermissionError:
        return False
    return found is None or (stat.S_ISREG(found.st_mode) and found.st_nlink == 1)


def can_be_noted(name: str) -> bool:
    """Whether git, when it reads its own note of a move of HEAD, takes this for one name."""
    return not _NO_NAME.search(os.fsencode(name))


def _end_of_log(git_dir: Path) -> bytes:
    if not log_leads_nowhere(git_dir):
        return b""
    try:
        with open_plain(os.path.join(os.fsencode(git_dir), _LOG), follow=False) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LOOKED_AT))
            return file.read(_LOOKED_AT)
    except (OSError, NotPlainError):
        # Without a log, or one that can be read, git does not know either.
        return b""
