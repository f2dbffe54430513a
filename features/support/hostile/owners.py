"""Other users: files that belong to them, and being one of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import backtrail

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.world.world import World

NOBODY = 65534
SOMEBODY = 12345


def everything(root: Path) -> list[Path]:
    """A directory with all that is in it, but for Backtrail's home, which has to be one's own."""
    found = (root, *root.rglob("*"))
    return [path for path in found if "backtrail" not in path.relative_to(root).parts]


def give(*places: Path) -> None:
    for place in places:
        os.lchown(place, SOMEBODY, SOMEBODY)


def nobody_may_read_the_program() -> bool:
    """False for a root whose checkout or installation is closed to everybody else."""
    child = os.fork()
    if child == 0:
        become_nobody()
        os._exit(not os.access(backtrail.__file__, os.R_OK))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def become_nobody() -> None:
    os.umask(0o077)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def let_everybody_read(root: Path) -> None:
    for place in everything(root):
        if not place.is_symlink():
            place.chmod(place.stat().st_mode | (0o555 if place.is_dir() else 0o444))


def _configure(*values: str) -> Callable[[World], None]:
    def configure(world: World) -> None:
        for value in values:
            named = value.replace("{repository}", str(world.repo))
            world.git("config", "--global", "--add", "safe.directory", named)

    return configure


def _configure_from_home(world: World) -> dict[str, str]:
    environment = {"HOME": str(world.root)}
    world.extra_env |= environment
    _configure(f"~/{world.repo.name}")(world)
    return environment


def _include(world: World) -> None:
    world.git("config", "--file", str(world.home / "more"), "safe.directory", "*")
    world.git("config", "--global", "include.path", str(world.home / "more"))


def _own(world: World) -> None:
    with (world.repo / ".git" / "config").open("a") as file:
        file.write("[safe]\n\tdirectory = *\n")


_COUNT = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}

SAFE: dict[str, Callable[[World], dict[str, str] | None]] = {
    "everything, by their own configuration": _configure("*"),
    "this repository, by their own configuration": _configure("{repository}"),
    "another one, by their own configuration": _configure("{repository}/src"),
    "everything, and then nothing": _configure("*", ""),
    "this repository, written from their home": _configure_from_home,
    "everything, by a file that theirs includes": _include,
    "everything, by GIT_CONFIG_COUNT": lambda _: _COUNT,
    "everything, by GIT_CONFIG_PARAMETERS": lambda _: {
        "GIT_CONFIG_PARAMETERS": "'safe.directory'='*'"
    },
    "everything, by the repository's own": _own,
    "unset, and sudo was called by the owner": lambda _: {"SUDO_UID": str(SOMEBODY)},
    "unset, and sudo was called by a third": lambda _: {"SUDO_UID": str(SOMEBODY + 1)},
}
"""What can be said of safe.directory; what is said by variables is given back."""
