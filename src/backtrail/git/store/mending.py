"""Objects of our own store of which git complains: set aside, and brought in again.

A power loss or a bad disk leaves an empty or shortened file under an object's name, for which git
writes no other, since it takes the name for the object. The user's repository often holds the same
object whole. Nothing is looked for: only what git itself has named is looked at.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

from backtrail.domain.errors import BacktrailError
from backtrail.git.process.environment import quoted_path
from backtrail.git.process.runner import Mending
from backtrail.git.store.linking import link_pack_again
from backtrail.git.store.objects import HASHES
from backtrail.git.store.own_files import move_aside

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from backtrail.git.process.runner import GitRunner
    from backtrail.git.store.store import PrivateStore


# Git names an object by its id, or by the file that it is in.
_NAMED = re.compile(
    rb"(?<![0-9a-f])(?<!pack-)([0-9a-f]{2})/?([0-9a-f]{38}(?:[0-9a-f]{24})?)(?![0-9a-f])"
)
_PACKS = re.compile(rb"pack-[0-9a-f]{40,64}")
_AT_ONCE = 1024**2
_PACK = ("pack-objects", "-q", "--stdout")
_UNPACK = ("unpack-objects", "-q")
_SHOWN = 12


def mend(store: PrivateStore, git: GitRunner, said: bytes) -> Mending:
    """Put right what git has complained of, as far as that is possible; `git` must not mend."""
    named = [os.fsdecode(b"".join(parts)) for parts in _NAMED.findall(said)]
    # No object has the id of nothing but zeros: so a ref that is not there yet is named.
    named = [name for name in dict.fromkeys(named) if len(name) in HASHES and name.strip("0")]
    if store.elsewhere.place is not None:
        return Mending()
    theirs, ours = (d / "objects" / "pack" for d in (store.common_dir, store.git_dir))
    packs = {os.fsdecode(pack) for pack in _PACKS.findall(said)}
    again = [p for p in packs if link_pack_again(theirs, ours, p, store.layout.aside)]
    store.notices.extend(
        f"{pack} of the checkpoint store was set aside, and linked again from your repository"
        for pack in again
    )
    if again or not named:
        return Mending(changed=bool(again))
    damaged = [name for name in named if is_damaged(store.git_dir / "objects", name)]
    aside = [name for name in damaged if _set_aside(store, name)]
    without = _missing(git, named)
    missing = [name for name in named if name in without]
    back = _bring_in(store, git, missing)
    store.notices.extend(put_right_notice(name, was_damaged=name in damaged) for name in back)
    lost = [name for name in (*damaged, *missing) if name not in back]
    return Mending(changed=bool(aside or back), lost=tuple(dict.fromkeys(lost)))


def put_right_notice(object_id: str, *, was_damaged: bool) -> str:
    found = "damaged: it was set aside and" if was_damaged else "missing: it was"
    what = f"object {object_id[:_SHOWN]} of the checkpoint store"
    return f"{what} was {found} brought in again from your repository"


def is_damaged(objects: Path, object_id: str) -> bool:
    """Whether there is a loose file of that name, and it does not hold the object."""
    digest = hashlib.new(HASHES[len(object_id)], usedforsecurity=False)
    inflated = zlib.decompressobj()
    try:
        with (objects / object_id[:2] / object_id[2:]).open("rb") as file:
            while packed := file.read(_AT_ONCE):
                while packed:
                    digest.update(inflated.decompress(packed, _AT_ONCE))
                    packed = inflated.unconsumed_tail
    except OSError:
        return False
    except zlib.error:
        return True
    return not inflated.eof or digest.hexdigest() != object_id


def _set_aside(store: PrivateStore, object_id: str) -> bool:
    place = store.git_dir / "objects" / object_id[:2] / object_id[2:]
    # Gone: another process is at it. Not ours to move: then it stays, and git complains again.
    with suppress(OSError):
        move_aside(place, store.layout.aside, name=object_id)
        return True
    return False


def _bring_in(store: PrivateStore, git: GitRunner, missing: Sequence[str]) -> list[str]:
    """Those of the objects that the user's repository holds whole, and that are here now."""
    view = {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted_path(store.common_dir / "objects"),
        "GIT_SHALLOW_FILE": os.devnull,
    }
    gone = _missing(git, missing, view)
    there = [name for name in missing if name not in gone]
    if not there:
        return []
    # What of the user's is damaged, too, is not brought in, and then the complaint stays git's.
    with suppress(BacktrailError):
        git.feed(git, _PACK, _UNPACK, stdin=_lines(there), extra=view)
    still_missing = _missing(git, there)
    return [name for name in there if name not in still_missing]


def _missing(git: GitRunner, names: Sequence[str], view: dict[str, str] | None = None) -> set[str]:
    if not names:
        return set()
    # Asking for the type makes git open the object, not only find its name.
    words = ("cat-file", "--batch-check=%(objectname) %(objecttype)")
    output = git.run(*words, stdin=_lines(names), extra=view)
    lines = (line.split(" ") for line in output.text.splitlines())
    return {words[0] for words in lines if words[-1] == "missing"}


def _lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()
