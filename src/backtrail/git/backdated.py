"""Files whose date lies: just changed, and given an old date again.

Git tells an edit in the second of the snapshot by the file's date alone. A file that is rewritten
at the same size and dated back (`cp -p`, `touch -r`, unpackers) within that second would be missed
by every later snapshot. Such files are listed beside the private index and hashed anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backtrail.git.beneath import Beneath
from backtrail.git.checked_file import read_checked, write_checked
from backtrail.git.private_index import backdated_list, safe_date
from backtrail.git.runner import nul_joined

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from pathlib import Path


def read_backdated(kept: Path) -> list[bytes]:
    """The files that the next snapshot must not take on trust."""
    return (read_checked(backdated_list(kept)) or b"").split(b"\0")[:-1]


def note_backdated(kept: Path, root: Path, captured: Iterable[bytes], *, began_ns: int) -> None:
    """List those of the files just captured that changed recently under an older date."""
    recent = safe_date(began_ns)
    with Beneath(root) as inside:
        found = [path for path in captured if _is_backdated(inside.lstat(path), recent)]
    if found:
        write_checked(backdated_list(kept), nul_joined(found))
    else:
        backdated_list(kept).unlink(missing_ok=True)


def _is_backdated(info: os.stat_result | None, recent_ns: int) -> bool:
    return info is not None and info.st_mtime_ns < recent_ns <= info.st_ctime_ns
