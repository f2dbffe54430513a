"""Races: a process that exchanges a directory of the sandbox for a link to outside, and back.

What is outside has the names of what is inside, so that whoever is led there writes, deletes or
chmods something. It is looked at with its dates, so that even a file that came and went shows.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from support.program.forked import DoHere, run_forked
from support.world.world import write_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from support.world.world import Ran, World

RACED, LINK = "d1", "swap"
MOMENTS = ("rollback.opened", "rollback.safety_made", "rollback.restoring")
PAUSES = (0.0, 0.0002, 0.002)
"""How long, in seconds, it rests between two exchanges; not at all by default."""
ALLOWED = (0, 9, 11)
# The exchange begins with a signal and ends with another one, the directory in its place again.
_EXCHANGER = """
import ctypes, os, signal, sys, time
inside, link, pause = os.fsencode(sys.argv[1]), os.fsencode(sys.argv[2]), float(sys.argv[3])
exchange = ctypes.CDLL(None, use_errno=True).renameat2
ended = []
signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
print("ready", flush=True)
signal.sigwait([signal.SIGUSR1])
count = 0
while not ended:
    # The directory may be gone for a moment.
    count += exchange(-100, inside, -100, link, 2) == 0
    if pause:
        time.sleep(pause)
if os.path.islink(inside):
    exchange(-100, inside, -100, link, 2)
print(count, flush=True)
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One rollback that was raced."""

    number: int
    code: int
    said: str
    exchanges: int
    touched: tuple[str, ...]
    """What is not as it was outside."""


@dataclass(slots=True)
class Races:
    """Rollbacks to and fro in one sandbox, each beside a process that exchanges directories."""

    world: World
    outside: Path
    outcomes: list[Outcome] = field(default_factory=list[Outcome])

    @property
    def codes(self) -> Counter[int]:
        return Counter(outcome.code for outcome in self.outcomes)

    def run(self, count: int, *, link_in_sandbox: bool) -> None:
        sandbox = self.world.sandbox("auth")
        link = (sandbox / "ignored" if link_in_sandbox else self.world.root) / LINK
        for number in range(count):
            self._race(number, sandbox / RACED, link)
            run_forked(self.world, "rollback", "auth", "one" if number % 2 else "two", "--yes").ok()

    def _race(self, number: int, inside: Path, link: Path) -> None:
        chance = random.Random(number)
        before = seen(self.outside)
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(self.outside)
        words = [str(inside), str(link), str(chance.choice(PAUSES))]
        exchanger = subprocess.Popen(
            [sys.executable, "-c", _EXCHANGER, *words], stdout=subprocess.PIPE, text=True
        )
        assert exchanger.stdout is not None
        exchanger.stdout.readline()
        begin = DoHere(chance.choice(MOMENTS), lambda: os.kill(exchanger.pid, signal.SIGUSR1))
        target = "two" if number % 2 else "one"
        ran = run_forked(self.world, "rollback", "auth", target, "--yes", failpoints=begin)
        exchanger.send_signal(signal.SIGTERM)
        exchanger.send_signal(signal.SIGUSR1)
        exchanges = int(exchanger.communicate()[0])
        assert exchanger.returncode == 0
        for place in (inside, link):
            if place.is_symlink():
                place.unlink()
        shutil.rmtree(link, ignore_errors=True)
        self._note(number, ran, exchanges, before)

    def _note(self, number: int, ran: Ran, exchanges: int, before: dict[str, str]) -> None:
        after = seen(self.outside)
        paths = sorted(p for p in {*before, *after} if before.get(p) != after.get(p))
        self.outcomes.append(Outcome(number, ran.code, ran.err, exchanges, tuple(paths)))


def prepare(world: World, outside: Path) -> None:
    """Two checkpoints that differ in all ways below a directory, and its like outside."""
    inside = world.sandbox("auth") / RACED
    write_files(world.sandbox("auth"), {".gitignore": "*.secret\n/ignored/\n"})
    _fill(inside, "one", range(40), mode=0o600)
    (inside / "hollow" / "one").mkdir(parents=True)
    _save(world, "one")
    shutil.rmtree(inside)
    _fill(inside, "two", range(20, 60), mode=0o640)
    (inside / "hollow" / "two").mkdir(parents=True)
    _save(world, "two")
    # What is outside is both at once, so that nothing of either can be missing there.
    _fill(outside, "outside", range(60), mode=0o604)
    for name in ("hollow/one", "hollow/two", "bare"):
        (outside / name).mkdir(parents=True)


def _fill(place: Path, word: str, numbers: Sequence[int], *, mode: int) -> None:
    write_files(place, {f"{n:02}.txt": f"{word} {n}\n" for n in numbers})
    write_files(place, {f"deep/er/{n:02}.txt": f"{word} {n}\n" for n in numbers if n % 3 == 0})
    write_files(place, {".secret": word, "deep/.secret": word, "same.txt": "the same\n"})
    for path in (place / "same.txt", place / "deep", place / f"{numbers[0]:02}.txt"):
        path.chmod(mode | 0o100 if path.is_dir() else mode)


def _save(world: World, label: str) -> None:
    run_forked(world, "save", "auth", "--label", label).ok()


def seen(root: Path) -> dict[str, str]:
    """Everything below a directory, and itself: kind, mode, owner, dates and content."""
    found: dict[str, str] = {}
    for directory, names, files in os.walk(root):
        for name in (".", *names, *files):
            path = os.path.join(directory, name)
            info = os.lstat(path)
            content = open(path, "rb").read() if name in files else b""  # noqa: SIM115
            kept = (info.st_mode, info.st_ino, info.st_nlink, info.st_mtime_ns, info.st_ctime_ns)
            found[os.path.relpath(path, root)] = f"{kept} {content!r}"
    return found
