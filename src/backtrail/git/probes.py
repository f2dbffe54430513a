"""How git is asked what is in a sandbox, and made to look into what it would only name."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from backtrail.git.runner import nul_joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backtrail.git.runner import GitRunner


UNTRACKED = ("ls-files", "-o", "-z", "--exclude-standard")
# Arguments beyond this are not worth the risk of the system's limit: then everything is listed.
_ARGUMENTS_LENGTH = 60_000


def only_below(paths: Sequence[bytes]) -> list[str]:
    """Arguments that restrict a listing to these paths; with none, it lists everything."""
    if not paths or sum(map(len, paths)) > _ARGUMENTS_LENGTH:
        return []
    # Git would begin at what all have in common, and stop there if that is a repository. Beside a
    # name that is never listed they have nothing in common.
    return ["--", ".git", *map(os.fsdecode, paths)]


def take_for_directories(
    git: GitRunner, directories: Sequence[bytes], scratch: Mapping[str, str] | None = None
) -> None:
    """Make git take directories, repositories too, for ones that hold something of the index."""
    if not directories:
        return
    empty = git.call("hash-object", "-w", "--stdin", stdin=b"").text.encode()
    probe = b".backtrail-" + secrets.token_hex(8).encode()
    lines = [b"100644 %s 0\t%s%s" % (empty, path, probe) for path in directories]
    git.call("update-index", "-z", "--index-info", stdin=nul_joined(lines), extra=scratch)
