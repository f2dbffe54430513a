"""What the private store holds besides objects and refs: written once by us, and compared.

Git takes settings, ignore rules, attributes, other places to look and the ends of history from
these files; one line more in one of them makes a rollback exact that is not. So every opening
compares them with what we wrote, which costs a few small reads and no git. The record beside the
store is what they are compared with, and ends with its own digest.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from backtrail.domain.errors import StorageError
from backtrail.git.osfiles.durable import (
    is_plain,
    read_checked,
    read_own,
    write_checked,
    write_durably,
)

# Beats every .gitattributes: what is stored is what is on disk.
RAW_BYTES = b"* -text -eol -crlf -ident -filter -working-tree-encoding\n"
_HEAD = b"ref: refs/heads/master\n"
_STORE_ID = "backtrail-store-id"
_DIRECTORIES = ("info", "objects", "objects/info", "objects/pack", "refs")
# We write none of these, and git would follow them.
_FOREIGN = (
    "commondir",
    "config.worktree",
    "hooks",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "objects/info/http-alternates",
)
_LOOK = stat.S_IRUSR | stat.S_IXUSR
_ID = re.compile(rb"[0-9a-f]{26}\n")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# What `git init` writes, on whatever system.
_CONFIG = re.compile(
    r"\[core\]\n\trepositoryformatversion = [01]\n\tfilemode = (?:true|false)\n\tbare = true\n"
    r"(?:\t(?:ignorecase|precomposeunicode|symlinks) = (?:true|false)\n)*"
    r"(?:\[extensions\]\n\tobjectformat = sha256\n)?"
)
_PLAIN_CONFIG = {
    "sha1": "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n",
    "sha256": "[core]\n\trepositoryformatversion = 1\n\tfilemode = true\n\tbare = true\n"
    "[extensions]\n\tobjectformat = sha256\n",
}


@dataclass(frozen=True, slots=True)
class StoreRecord:
    """What a store was made with, and where history ends in it."""

    store_id: str
    config: str
    boundary: tuple[str, ...] = ()

    def write(self, path: Path) -> None:
        write_checked(path, json.dumps(asdict(self)).encode(), durably=True)


def read_record(path: Path) -> StoreRecord | None:
    """The record, if it is whole."""
    try:
        document = json.loads(read_checked(path) or b"")
        return StoreRecord(document["store_id"], document["config"], tuple(document["boundary"]))
    except (ValueError, TypeError, KeyError):
        return None


def write_own_files(building: Path) -> StoreRecord:
    """Give a new store all that is neither an object nor a ref; what is to be remembered of it."""
    record = StoreRecord(secrets.token_hex(13), (building / "config").read_text())
    for name, content in _contents(record).items():
        (building / name).parent.mkdir(exist_ok=True)
        (building / name).write_bytes(content)
    return record


def altered_files(git_dir: Path, record: StoreRecord) -> list[str]:
    """What is not as we wrote it, by name."""
    return [
        *(name for name in _DIRECTORIES if not _is_open(git_dir / name)),
        *(name for name, content in _contents(record).items() if _held(git_dir / name) != content),
        *(name for name in _FOREIGN if os.path.lexists(git_dir / name)),
        *_endless_packs(git_dir),
        *(() if record.boundary else _if_there(git_dir / "shallow")),
    ]


def rewrite(git_dir: Path, record: StoreRecord, names: Iterable[str], aside: Path) -> None:
    """Write these anew; what is in their place and is not plain is set aside, not deleted."""
    contents = _contents(record)
    for name in names:
        place = git_dir / name
        if name in _DIRECTORIES and _is_directory(place):
            place.chmod(stat.S_IRWXU)
            continue
        if os.path.lexists(place) and not (name in contents and is_plain(place)):
            move_aside(place, aside)
        if name in _DIRECTORIES:
            place.mkdir(exist_ok=True)
        elif name in contents:
            write_durably(place, contents[name])


def move_aside(place: Path, aside: Path, name: str | None = None) -> None:
    """Move what should not be there out of the way."""
    aside.mkdir(mode=0o700, exist_ok=True)
    place.rename(aside / f"{name or place.name}-{time.time_ns()}")


def adopted_record(
    git_dir: Path, known_id: Callable[[], str | None], object_format: Callable[[], str]
) -> StoreRecord:
    """The record of a store that has none, or lost it: from its files, as far as they make sense.

    The rows know the store's id, too, and better than a file that may be damaged.
    """
    found = _held(git_dir / _STORE_ID) or b""
    noted = found.decode().strip() if _ID.fullmatch(found) else None
    store_id = known_id() or noted
    if store_id is None:
        raise StorageError(
            f"the id of the checkpoint store {str(git_dir)!r} is lost, and no row tells it",
            hint=f"restore {str(git_dir / _STORE_ID)!r} from a backup",
        )
    config = (_held(git_dir / "config") or b"").decode("utf-8", "replace")
    if not _CONFIG.fullmatch(config):
        config = _PLAIN_CONFIG[object_format()]
    return StoreRecord(store_id, config, _noted_boundary(git_dir))


def _noted_boundary(git_dir: Path) -> tuple[str, ...]:
    """Where history ends by the file that git reads, less what is no id."""
    lines = (_held(git_dir / "shallow") or b"").decode("utf-8", "replace").split("\n")
    return tuple(sorted({line for line in lines if _COMMIT.fullmatch(line)}))


def with_boundary(record: StoreRecord, commits: Iterable[str]) -> StoreRecord:
    return replace(record, boundary=tuple(sorted({*record.boundary, *commits})))


def boundary_text(record: StoreRecord) -> bytes:
    return "".join(f"{commit}\n" for commit in record.boundary).encode()


def _contents(record: StoreRecord) -> Mapping[str, bytes]:
    files = {
        "HEAD": _HEAD,
        "config": record.config.encode(),
        "info/attributes": RAW_BYTES,
        "info/exclude": b"",
        _STORE_ID: f"{record.store_id}\n".encode(),
    }
    return {**files, "shallow": boundary_text(record)} if record.boundary else files


def _held(path: Path) -> bytes | None:
    try:
        return read_own(path)
    except OSError:
        return None


def _is_directory(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _endless_packs(git_dir: Path) -> list[str]:
    """What in the place of a pack would make every git wait for ever."""
    pack = git_dir / "objects" / "pack"
    if not _is_directory(pack):
        return []
    with os.scandir(pack) as found:
        odd = (e for e in found if not (e.is_symlink() or e.is_file() or e.is_dir()))
        return [f"objects/pack/{entry.name}" for entry in odd]


def _is_open(path: Path) -> bool:
    """Whether git can look into a directory; that it can write there is asked when it has to."""
    return _is_directory(path) and path.lstat().st_mode & _LOOK == _LOOK


def _if_there(path: Path) -> tuple[str, ...]:
    return (path.name,) if os.path.lexists(path) else ()
