"""People and signals that get in the way of the demonstration, and what its witness sees then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backtrail.demo.plain_git import demo_git
from backtrail.demo.witness import Picture, look
from support.program.demos import sandbox_of_demo
from support.world.world import write_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.world.world import World


class SignalHere:
    """A signal that arrives when the program is at a named place."""

    def __init__(self, name: str, number: int) -> None:
        self._name = name
        self._number = number

    def reach(self, name: str) -> None:
        if name == self._name:
            os.kill(os.getpid(), self._number)


class DeedHere:
    """Somebody who meddles with the throw-away repository while the program is at a place."""

    def __init__(self, name: str, world: World, deed: Callable[[World, Path], object]) -> None:
        self._name = name
        self._world = world
        self._deed = deed

    def reach(self, name: str) -> None:
        if name == self._name:
            self._deed(self._world, sandbox_of_demo(self._world))


def _swap_letters(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[1::-1] + content[2:])


def _point(link: Path, target: str) -> None:
    link.unlink()
    link.symlink_to(target)


def _append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


def _commit(world: World, checkout: Path) -> None:
    world.git("commit", "--quiet", "--allow-empty", "-m", "moved", cwd=checkout)


DEEDS: dict[str, Callable[[World, Path], object]] = {
    "swaps two letters": lambda _, sandbox: _swap_letters(sandbox / "src" / "cart.py"),
    "edits the ignored file": lambda _, sandbox: _append(sandbox / ".env"),
    "moves the branch": _commit,
    "removes a document": lambda _, sandbox: (sandbox / "docs" / "user guide.md").unlink(),
    "points a link elsewhere": lambda _, sandbox: _point(sandbox / "assets", "../el"),
    "edits the checkout": lambda _, sandbox: _append(sandbox.parents[1] / "shop" / "README.md"),
}
# In the order of the scenario, each on top of the ones before.
WITNESSED: dict[str, Callable[[World, Path], object]] = {
    "swaps two letters": lambda _, repo: _swap_letters(repo / "README.md"),
    "adds a line": lambda _, repo: _append(repo / "README.md"),
    "takes away a permission": lambda _, repo: (repo / "README.md").chmod(0o400),
    "removes a file": lambda _, repo: (repo / "src" / "app.py").unlink(),
    "makes a file": lambda _, repo: write_files(repo, {"new.txt": "new"}),
    "makes an empty folder": lambda _, repo: (repo / "empty").mkdir(),
    "makes a link": lambda _, repo: (repo / "link").symlink_to("./src"),
    "points the link elsewhere": lambda _, repo: _point(repo / "link", "src//"),
    "replaces a file by a link": lambda _, repo: _point(repo / "README.md", "new.txt"),
    "makes a pipe": lambda _, repo: os.mkfifo(repo / "pipe"),
    "stages a file": lambda world, _: world.git("add", "new.txt"),
    "commits": _commit,
    "detaches HEAD": lambda world, _: world.git("checkout", "--quiet", "--detach"),
    "makes an ignored file": lambda _, repo: write_files(repo, {"build/x": ""}),
}


def witness(world: World) -> Picture:
    """What the demonstration's own witness sees in the repository."""
    return look(demo_git(world.root, world.repo), "main")
