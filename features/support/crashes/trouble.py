"""Ways to break the surroundings of a plan, by the words that scenarios use for them."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from support.storage.rows import SqliteRows
from support.world.world import write_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.world.world import World


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
    """The file of the database, with nothing left in its log."""
    rows = world.rows
    assert isinstance(rows, SqliteRows), "a server keeps its files to itself"
    rows.query("PRAGMA wal_checkpoint(TRUNCATE)")
    for log in ("plan.db-wal", "plan.db-shm"):
        rows.file.with_name(log).unlink(missing_ok=True)
    return rows.file


def fill_with_noise(world: World) -> None:
    path = _database(world)
    path.write_bytes(os.urandom(path.stat().st_size))


def cut_in_half(world: World) -> None:
    path = _database(world)
    os.truncate(path, path.stat().st_size // 2)


def make_newer(world: World) -> None:
    assert world.rows.change("UPDATE alembic_version SET version_num = '9999'") == 1


def make_unreleased(world: World) -> None:
    assert world.rows.change("UPDATE alembic_version SET version_num = '0003'") == 1


def make_foreign(world: World) -> None:
    make_missing(world)
    world.rows.change("CREATE TABLE recipes (name TEXT)")


def make_foreign_with_alembic(world: World) -> None:
    """Another program that numbers its revisions as we do."""
    make_foreign(world)
    world.rows.change("CREATE TABLE alembic_version (version_num VARCHAR(32))")
    world.rows.change("INSERT INTO alembic_version VALUES ('0001')")


def make_missing(world: World) -> None:
    world.rows.empty()


DATABASE: dict[str, Callable[[World], None]] = {
    "is full of noise": fill_with_noise,
    "was cut in half": cut_in_half,
    "was made by a newer program": make_newer,
    "was made by a version that was never released": make_unreleased,
    "belongs to another program": make_foreign,
    "belongs to another program with Alembic": make_foreign_with_alembic,
    "is not there yet": make_missing,
}
