"""Things that may stand in the place of `plan.toml`, by what a scenario calls them."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from support.world.phrases import Text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.world.world import World

_ODD: dict[str, Callable[[World, Path], object]] = {
    "a number with 5000 digits": lambda _, p: p.write_text(f"x = {'9' * 5000}\n"),
    "lists a thousand deep": lambda _, p: p.write_text(f"x = {'[' * 5000}"),
    "a byte in line 2 that is not UTF-8": lambda _, p: p.write_bytes(b"[steps]\n# \xff\n"),
    "two megabytes": lambda _, p: p.write_text("# much\n" * 300_000),
    "a directory": lambda _, p: p.mkdir(),
    "a named pipe": lambda _, p: os.mkfifo(p),
    "a link to the sandbox": lambda world, p: p.symlink_to(world.sandbox("auth") / "README.md"),
    "a link to nowhere": lambda _, p: p.symlink_to("nowhere.toml"),
    "a link to itself": lambda _, p: p.symlink_to(p),
}


def put(world: World, what: str) -> None:
    """Make `plan.toml` what is said: something odd, or a file with that text."""
    place = world.repo / "plan.toml"
    take_away(world)
    if what in _ODD:
        _ODD[what](world, place)
    else:
        place.write_text(Text()(what))


def take_away(world: World) -> None:
    place = world.repo / "plan.toml"
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
