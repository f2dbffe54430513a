"""Ways to break the surroundings of a plan, by the words that scenarios use for them."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from support.world import write_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.world import World


def delete_sandbox(world: World) -> None:
    shutil.rmtree(world.sandbox("auth"))


def sandbox_becomes_folder(world: World) -> None:
    delete_sandbox(world)
    write_files(world.sandbox("auth"), {"README.md": "not a worktree\n"})


def sandbox_becomes_worktree(world: World) -> None:
    delete_sandbox(world)
    world.git("worktree", "prune")
    world.git("worktree", "add", "--quiet", "--detach", str(world.sandbox("auth")))


def sandbox_becomes_clone(world: World) -> None:
    delete_sandbox(world)
    world.git("clone", "--quiet", str(world.repo), str(world.sandbox("auth")))


def sandbox_becomes_link(world: World) -> None:
    moved = world.root / "moved"
    world.sandbox("auth").rename(moved)
    world.sandbox("auth").symlink_to(moved)


def sandbox_becomes_another_plans(world: World) -> None:
    """The files of one sandbox, its `.git` included, in the place of another's."""
    other = world.create_plan("other").sandbox.path
    delete_sandbox(world)
    shutil.copytree(other, world.sandbox("auth"), symlinks=True)


SANDBOX: dict[str, Callable[[World], None]] = {
    "was deleted": delete_sandbox,
    "was replaced by an ordinary folder": sandbox_becomes_folder,
    "was replaced by another worktree": sandbox_becomes_worktree,
    "was replaced by a clone": sandbox_becomes_clone,
    "was replaced by a link to a copy of itself": sandbox_becomes_link,
    "was replaced by a copy of another sandbox": sandbox_becomes_another_plans,
}


def _database(world: World) -> Path:
    """The database, with nothing left in its log."""
    path = world.backtrail_home / "plan.db"
    _execute(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    for log in (path.with_name("plan.db-wal"), path.with_name("plan.db-shm")):
        log.unlink(missing_ok=True)
    return path


def _execute(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def fill_with_noise(world: World) -> None:
    path = _database(world)
    path.write_bytes(os.urandom(path.stat().st_size))


def cut_in_half(world: World) -> None:
    path = _database(world)
    os.truncate(path, path.stat().st_size // 2)


def make_newer(world: World) -> None:
    _execute(_database(world), "UPDATE alembic_version SET version_num = '9999'")


def make_foreign(world: World) -> None:
    path = _database(world)
    path.unlink()
    _execute(path, "CREATE TABLE recipes (name TEXT)")


def make_missing(world: World) -> None:
    _database(world).unlink()


DATABASE: dict[str, Callable[[World], None]] = {
    "is full of noise": fill_with_noise,
    "was cut in half": cut_in_half,
    "was made by a newer program": make_newer,
    "belongs to another program": make_foreign,
    "is not there yet": make_missing,
}
