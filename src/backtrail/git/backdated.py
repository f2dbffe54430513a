"""Files whose date lies: just changed, and given an old date again.

Git tells an edit in the second of the snapshot by the file's date alone. A file that is rewritten
at the same size and dated back (`cp -p`, `touch -r`, unpackers) within that second would be missed
by every later snapshot. Such files are listed beside the private index and hashed anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.git.paths import lstat_inside
from backtrail.git.private_index import safe_date
from backtrail.git.runner import nul_joined

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def read_backdated(kept: Path) -> list[bytes]:
    """The files that the next snapshot must not take on trust."""
    try:
        return _list_of(kept).read_bytes().split(b"\0")[:-1]
    except FileNotFoundError:
        return []


def note_backdated(kept: Path, root: Path, captured: Iterable[bytes], *, began_ns: int) -> None:
    """List those of the files just captured that changed recently under an older date."""
    recent = safe_date(began_ns)
    found = [path for path in captured if _is_backdated(root, path, recent)]
    if found:
        _list_of(kept).write_bytes(nul_joined(found))
    else:
        _list_of(kept).unlink(missing_ok=True)


def _is_backdated(root: Path, path: bytes, recent_ns: int) -> bool:
    info = lstat_inside(root, path)
    return info is not None and info.st_mtime_ns < recent_ns <= info.st_ctime_ns


def _list_of(kept: Path) -> Path:
    return kept.with_name(f"{kept.name}.backdated")
