"""The private index of a sandbox: kept between snapshots, so that only what changed is hashed.

Invariants: work happens on a copy, which replaces the kept index only when it is whole and
correctly dated; a kept index is checked before use, and one that cannot be trusted is built anew.

Git tells an edit in the second of the snapshot by the file's date alone. A file that is rewritten
at the same size and dated back (`cp -p`, `touch -r`, unpackers) within that second would be missed
by every later snapshot. Such files are listed beside the private index and hashed anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from backtrail.git.osfiles.beneath import Beneath
from backtrail.git.osfiles.durable import read_checked, read_own, write_checked
from backtrail.git.process.runner import GitRunner, nul_joined
from backtrail.git.store.objects import HASHES, TreeEntry
from backtrail.git.store.store import PrivateStore, scratch_directory

# An entry of the index begins with ctime, mtime, device, inode, mode, owner, group and size.
_DATES, _OWNER = struct.Struct(">6I"), struct.Struct(">3I")
_STAT_SIZE, _AFTER_MODE, _WORD, _LONGEST_NOTED = 40, 28, 0xFFFFFFFF, 0xFFF
_LONG_AGO_NS = 1_000_000_000
_SECOND_NS = 1_000_000_000


@contextmanager
def working_index(store: PrivateStore, kept: Path) -> Generator[Path]:
    """A copy of the kept index to work on; absent if there is none that can be trusted."""
    with scratch_directory(store) as directory:
        copy = directory / "index"
        notes = backdated_list(kept)
        if index_is_sound(kept) and not (os.path.lexists(notes) and read_checked(notes) is None):
            shutil.copy2(kept, copy)
            _distrust_future_date(copy)
        yield copy


def copied(git: GitRunner, copy: Path) -> Path:
    """A scratch copy of the index that git works on; absent, like that one, at a cold start."""
    with suppress(FileNotFoundError):
        shutil.copyfile(git.environment["GIT_INDEX_FILE"], copy)
    return copy


def index_is_sound(path: Path) -> bool:
    """Whether the trailing checksum fits; git itself accepts a flipped byte and goes wrong."""
    try:
        content = read_own(path)
    except OSError:
        return False
    for name in HASHES.values():
        size = hashlib.new(name).digest_size
        body, trailer = content[:-size], content[-size:]
        if body and hashlib.new(name, body, usedforsecurity=False).digest() == trailer:
            return True
    return False


def backdated_list(kept: Path) -> Path:
    """Where files whose date lies are listed: the index is worth nothing without that list."""
    return kept.with_name(f"{kept.name}.backdated")


def _distrust_future_date(path: Path) -> None:
    # Under an index dated in the future, git would trust files changed since. Dated long ago, it
    # looks at every content; the date must not be zero, which git takes for "no date".
    if path.stat().st_mtime_ns > time.time_ns():
        os.utime(path, ns=(_LONG_AGO_NS, _LONG_AGO_NS))


def safe_date(began_ns: int) -> int:
    """The date under which an index made since `began_ns` misses no edit.

    Git compares whole seconds: a file rewritten at the same size in the second in which it was
    hashed is missed by every later snapshot, unless the index is older than that second.
    """
    return began_ns - _SECOND_NS


def trust_seed(working: Path) -> int | None:
    """Date the copy of a fresh seed so that git relies on it; gives the date that is to be kept.

    Git has just written the very files that the seed describes, so the first snapshot need not
    read them again. Every later one still must, until the index is dated anew.
    """
    if not working.exists():
        # Not every git writes a checksum that can be checked: then it is built anew.
        return None
    date = working.stat().st_mtime_ns
    os.utime(working)
    return date


def note_written(
    working: Path, written: Mapping[bytes, TreeEntry], found: Mapping[bytes, os.stat_result]
) -> None:
    """Let the index know of files that were just written what it would see if it looked at them.

    An entry that is not found, as in an index of another form, has to be looked at: no more.
    """
    if not found:
        return
    content, at, size = bytearray(working.read_bytes()), 0, 0
    for path in sorted(found):
        name = bytes.fromhex(written[path].object_id)
        size = len(name)
        record = name + min(len(path), _LONGEST_NOTED).to_bytes(2, "big") + path + b"\0"
        place = content.find(record, at)
        if place < 0:
            continue
        at = place + len(record)
        begin, info = place - _STAT_SIZE, found[path]
        _DATES.pack_into(
            content, begin,
            *_seconds(info.st_ctime_ns), *_seconds(info.st_mtime_ns),
            info.st_dev & _WORD, info.st_ino & _WORD,
        )  # fmt: skip
        _OWNER.pack_into(
            content, begin + _AFTER_MODE, info.st_uid, info.st_gid, info.st_size & _WORD
        )
    hashed = hashlib.new(HASHES[2 * size], content[:-size], usedforsecurity=False)
    content[-size:] = hashed.digest()
    working.write_bytes(content)


def _seconds(moment_ns: int) -> tuple[int, int]:
    seconds, rest = divmod(moment_ns, _SECOND_NS)
    return seconds & _WORD, rest


def keep_index(working: Path, kept: Path, *, began_ns: int, date_ns: int | None = None) -> None:
    """Let the working copy become the kept index, dated so that no edit is missed."""
    if not working.exists():
        # Nothing was captured: what is kept, if anything, was not fit for use.
        kept.unlink(missing_ok=True)
        return
    date = safe_date(began_ns) if date_ns is None else date_ns
    os.utime(working, ns=(date, date))
    working.replace(kept)


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
