"""Repositories inside a sandbox: where their HEAD is, read from files alone.

Git must not be asked: it would read a configuration that whoever made the repository has written.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from backtrail.git.osfiles.plain_files import (
    LONGEST_LINE,
    LONGEST_RULES,
    NotPlainError,
    beginning_of,
)
from backtrail.git.user.discovery import Worktree, worktree_at

_HEX = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REF = re.compile(r"refs/[^\0\n]+")
UNBORN = "no commit"


def nested_head(root: Path, directory: bytes) -> str | None:
    """What a nested HEAD names, as `<commit> <branch>`; None if there is no repository."""
    worktree = worktree_at(Path(os.fsdecode(os.path.join(os.fsencode(root), directory))))
    if worktree is None:
        return None
    head = _text(worktree.git_dir / "HEAD")
    ref = head.removeprefix("ref: ")
    if ref == head or not _REF.fullmatch(ref) or ".." in ref:
        return head if _HEX.fullmatch(head) else UNBORN
    return f"{_resolved(worktree, ref) or UNBORN} {ref.removeprefix('refs/heads/')}"


def _resolved(worktree: Worktree, ref: str) -> str | None:
    for directory in (worktree.git_dir, worktree.common_dir):
        loose = _text(directory / ref)
        if _HEX.fullmatch(loose):
            return loose
    for line in _text(worktree.common_dir / "packed-refs", LONGEST_RULES).splitlines():
        commit, _, name = line.partition(" ")
        if name == ref and _HEX.fullmatch(commit):
            return commit
    return None


def _text(path: Path, longest: int = LONGEST_LINE) -> str:
    try:
        return beginning_of(path, longest).decode("utf-8", "surrogateescape").strip()
    except (OSError, ValueError, NotPlainError):
        return ""
