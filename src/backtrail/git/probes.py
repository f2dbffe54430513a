"""Entries of a scratch index that make git look into a directory instead of only naming it."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from backtrail.git.runner import nul_joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backtrail.git.runner import GitRunner


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
