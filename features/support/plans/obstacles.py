"""What can be in the way of an apply: work of the user's own, and worktrees in odd states."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from support.plans import applying
from support.world.world import write_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.world.world import World

_AGENTS = "print('two')\n"


def agents_everything(world: World, sandbox: Path) -> None:
    """Change a file, add one, force-add two that are ignored, put a file where a folder may be."""
    write_files(
        sandbox,
        {
            "src/app.py": _AGENTS,
            "new.txt": "agent\n",
            "build/out.txt": "agent\n",
            "was-folder": "a file now\n",
            "sub.log/deep.txt": "agent\n",
        },
    )
    world.git("add", "--force", "build/out.txt", "sub.log/deep.txt", cwd=sandbox)


def _staged(content: str) -> Callable[[World], object]:
    def stage(world: World) -> None:
        write_files(world.repo, {"src/app.py": content})
        world.git("add", "src/app.py")

    return stage


def _unmerged(world: World) -> None:
    """Three versions of one file in the index, as a stash that does not fit leaves them."""
    blob = world.git("rev-parse", "HEAD:README.md").strip()
    lines = "".join(f"100644 {blob} {stage}\tREADME.md\n" for stage in (1, 2, 3))
    gone = f"0 {'0' * 40}\tREADME.md\n"
    world.run("git", "update-index", "--index-info", stdin=gone + lines).ok()


def _writes(path: str) -> Callable[[World], object]:
    return lambda world: write_files(world.repo, {path: "the user's\n"})


OWN_WORK: dict[str, Callable[[World], object]] = {
    'edited "src/app.py"': _writes("src/app.py"),
    'staged an edit of "src/app.py"': _staged("print('mine')\n"),
    'staged what the agent wrote in "src/app.py"': _staged(_AGENTS),
    'deleted "src/app.py"': lambda world: (world.repo / "src/app.py").unlink(),
    'an untracked "new.txt"': _writes("new.txt"),
    'an ignored "build/out.txt"': _writes("build/out.txt"),
    'an ignored file in the folder "was-folder"': _writes("was-folder/x.log"),
    'an ignored file "sub.log"': _writes("sub.log"),
    'an unmerged "README.md"': _unmerged,
}


def _conflicting(world: World, place: Path, *command: str) -> None:
    write_files(place, {"README.md": "release\n"})
    world.git("commit", "--quiet", "-am", "release", cwd=place)
    applying.commit_file(world, "README.md")
    world.git("merge", "--quiet", "-s", "ours", "main", cwd=world.sandbox("auth"))
    assert world.run("git", *command, "main", cwd=place).code == 1


STATES: dict[str, Callable[[World, Path], object]] = {
    "nothing changed": lambda world, place: world.git("status", cwd=place),
    'an edit of "README.md"': lambda _, place: write_files(place, {"README.md": "mine\n"}),
    'an edit of "src/app.py"': lambda _, place: write_files(place, {"src/app.py": "mine\n"}),
    "been deleted by hand": lambda _, place: shutil.rmtree(place),
    "a rebase under way": lambda world, place: _conflicting(world, place, "rebase"),
    "a merge under way": lambda world, place: _conflicting(world, place, "merge"),
    "a lock on its index": lambda world, place: (
        world.repo / ".git" / "worktrees" / place.name.replace(" ", "-") / "index.lock"
    ).touch(),
}


def check_out_twice(world: World) -> None:
    world.git("worktree", "add", "--quiet", "--force", str(world.root / "again"), "main")


def check_out_in_another_plan(world: World, branch: str) -> None:
    world.create_plan("other")
    world.git("switch", "--quiet", "-c", branch, cwd=world.sandbox("other"))


def nameless(world: World) -> dict[str, str]:
    """Surroundings in which git knows of no name and is not to guess one."""
    world.git("config", "user.useConfigOnly", "true")
    names = (f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL"))
    return dict.fromkeys(names, "")
