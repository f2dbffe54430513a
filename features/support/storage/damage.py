"""Ways in which files of Backtrail's own go wrong, and what must hold whatever has gone wrong.

The files are those that a real repository has, found by looking: none can be forgotten.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from support.program.forked import end_after, run_forked
from support.world.disk import Walk, entry_at, walk
from support.world.examples import thorough

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.world.world import Ran, World

SECONDS = 100
"""How long a command may take: a damaged file must not make it wait for ever."""
COMMANDS = (
    ("status", "auth"),
    ("log", "auth"),
    ("rollback", "auth", "one", "--yes"),
    ("save", "auth"),
)
_ULID = 26
DOCUMENTED = {0, 1, 5, 7, 8, 9, 10, 11}


def _truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    if content:
        content[len(content) // 2] ^= 0x01
    _overwritten(path, bytes(content))


def _overwritten(path: Path, content: bytes) -> None:
    path.chmod(0o600)
    # In place: whatever shares the file is damaged with it, as by a disk.
    path.write_bytes(content)


def _garbage(path: Path) -> None:
    noise = random.Random(path.name)
    _overwritten(path, noise.randbytes(max(path.stat().st_size, 100)))


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("/nonexistent/elsewhere")


def _moved_away(path: Path) -> None:
    moved = path.with_name(f"{path.name}.moved")
    path.rename(moved)
    path.symlink_to(moved)


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


FILE_DAMAGES: dict[str, Callable[[Path], object]] = {
    "deleted": lambda path: path.unlink(),
    "emptied": lambda path: os.truncate(path, 0),
    "truncated": _truncated,
    "flipped": _flipped,
    "full of noise": _garbage,
    "a directory": _directory,
    "a link that leads nowhere": _dangling,
    "a link to itself elsewhere": _moved_away,
    "a FIFO": _fifo,
    "unreadable": lambda path: path.chmod(0),
}
DIRECTORY_DAMAGES: dict[str, Callable[[Path], object]] = {
    "deleted": shutil.rmtree,
    "a file": lambda path: (shutil.rmtree(path), path.write_text("a file now\n")),
    "unreadable": lambda path: path.chmod(0),
}


@dataclass(frozen=True, slots=True)
class Case:
    """One file or directory below the home of the checkpoints, and what happens to it."""

    name: str
    damage: str
    act: Callable[[Path], object]

    def __str__(self) -> str:
        return f"{self.name} is {self.damage}"


def cases(home: Path) -> list[Case]:
    """All of them with BACKTRAIL_EXAMPLES; else each kind of file with one of the damages."""
    found = list(_all(home))
    return found if thorough() else _few(found)


def _all(home: Path) -> Iterator[Case]:
    for directory, folders, files in os.walk(home):
        for names, damages in ((files, FILE_DAMAGES), (folders, DIRECTORY_DAMAGES)):
            for name in sorted(names):
                place = os.path.relpath(os.path.join(directory, name), home)
                yield from (Case(place, damage, act) for damage, act in damages.items())


def _few(found: list[Case]) -> list[Case]:
    """Each kind of file with one of the damages, another one for each: each is among them."""
    kinds: dict[str, dict[str, Case]] = {}
    for case in found:
        kinds.setdefault(_kind(case.name), {}).setdefault(case.damage, case)
    chosen: list[Case] = []
    used = Counter[int]()
    for damages in kinds.values():
        several = list(damages.values())
        at = used[len(several)] * (3 if len(several) > 3 else 1)
        chosen.append(several[at % len(several)])
        used[len(several)] += 1
    return chosen


def _kind(name: str) -> str:
    """What a file is, whatever ids are in its path."""
    parts = name.split("/")
    if parts[:2] == ["store.git", "objects"] and len(parts[2:]) in (1, 2):
        kind = parts[2] if parts[2] in ("info", "pack") else "fan-out"
        return f"{kind}, {len(parts)}, {Path(name).suffix}"
    ids = ("an id" + part[26:] if len(part) >= _ULID else part for part in parts)
    return "/".join(ids)


def trouble_of(world: World, case: Case, wanted: Walk) -> list[str]:
    """What is wrong with the program once this has happened; the world is as it was afterwards."""
    before = _kept(world, case)
    case.act(world.backtrail_home / case.name)
    found: list[str] = []
    for command in COMMANDS:
        ran = run_forked(world, *command, before=partial(end_after, SECONDS))
        found += _wrong(ran)
        if command[0] == "rollback" and ran.code == 0:
            found += _not_exact(wanted, walk(world.sandbox("auth")))
    _make_readable(world.backtrail_home / case.name)
    found += _lost(world, before)
    return [f"{case}: {text}" for text in found]


def _make_readable(path: Path) -> None:
    """For whoever counts what is left."""
    if path.exists() and not path.is_symlink():
        path.chmod(0o700)


def _wrong(ran: Ran) -> list[str]:
    if ran.code not in DOCUMENTED or "Traceback" in ran.err:
        return [f"{ran.arguments} gave {ran.code}: {ran.err}"]
    errors = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    hints = [line for line in ran.err.splitlines() if line.startswith("hint: ")]
    if ran.code and (len(errors), len(hints)) != (1, 1):
        return [f"{ran.arguments} gave {ran.code} without one sentence and a hint: {ran.err}"]
    return []


def _not_exact(wanted: Walk, found: Walk) -> list[str]:
    if wanted == found:
        return []
    names = [os.fsdecode(p) for p in {*wanted, *found} if wanted.get(p) != found.get(p)]
    return [f"the rollback said success, and these differ: {sorted(names)}"]


def _kept(world: World, case: Case) -> Walk:
    """Every object and every ref but the one that is about to be damaged."""
    hit = f"{os.path.relpath(world.backtrail_home / case.name, world.store)}"
    return {
        path: entry
        for path, entry in walk(world.store).items()
        if path.startswith((b"objects/", b"refs/", b"packed-refs"))
        and path != hit.encode()
        and not path.startswith(f"{hit}/".encode())
        and hit != "."
    }


def _lost(world: World, before: Walk) -> list[str]:
    gone = [p for p, was in before.items() if not _is_still(world.store, p, was)]
    return [f"these objects or refs are gone or changed: {gone}"] if gone else []


def _is_still(store: Path, path: bytes, was: tuple[str, int, bytes]) -> bool:
    try:
        return entry_at(os.path.join(os.fsencode(store), path)) == was
    except OSError:
        return False


class Rewind:
    """Brings a world back to what it was, as often as one likes."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._copy = world.root.with_name(f"{world.root.name} as it was")
        shutil.copytree(world.root, self._copy, symlinks=True)

    def rewind(self) -> None:
        _writable(self._world.root)
        shutil.rmtree(self._world.root)
        shutil.copytree(self._copy, self._world.root, symlinks=True)

    def forget(self) -> None:
        shutil.rmtree(self._copy)


def _writable(root: Path) -> None:
    for directory, folders, _files in os.walk(root):
        for name in folders:
            path = os.path.join(directory, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)
