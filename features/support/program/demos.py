"""The demonstration in all sorts of surroundings, and what it leaves there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from support.crashes import faults
from support.hostile import owners
from support.program import forked
from support.world import users
from support.world.disk import walk
from support.world.world import RUN_PLAN, Ran, write_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.world.world import World

PROGRAM = (sys.executable, "-c", RUN_PLAN, "demo")
SAVED = {b"src/login.py", b"src/mail.py", b"docs/user guide.md", b"assets/logo.bin", b".env"}
WRECKED = {b"src/signin.py", b"src.bak/signin.py", b"assets", b".env"}

# The demonstration makes a database, and forks should find what that needs loaded.
for _module in ("alembic.command", "alembic.runtime.migration", "alembic.ddl.sqlite"):
    import_module(_module)


def temporary_files(world: World) -> Path:
    return world.root / "temporary files"


def place_of_demo(world: World) -> Path:
    """The one throw-away directory that there is."""
    (place,) = temporary_files(world).glob("backtrail-demo-*")
    return place


def sandbox_of_demo(world: World) -> Path:
    return place_of_demo(world) / "shop.plans" / "auth"


def mislead(world: World) -> dict[str, str]:
    """Settings that break naive use of git, in the user's HOME; the variables that do so, too."""
    hooks, template = world.home / "hooks", world.home / "template"
    users.shouting_hooks(world, hooks)
    users.shouting_hooks(world, template / "hooks")
    users.shouting_program(world, world.home / "signer", end="exit 1")
    write_files(world.home, {"attributes": "* filter=broken\n", "excludes": "*.py\n"})
    settings = {
        "core.hooksPath": str(hooks),
        "core.autocrlf": "true",
        "core.attributesFile": str(world.home / "attributes"),
        "core.excludesFile": str(world.home / "excludes"),
        "commit.gpgSign": "true",
        "gpg.program": str(world.home / "signer"),
        "init.defaultBranch": "trunk",
        "init.templateDir": str(template),
        "user.useConfigOnly": "true",
        "filter.broken.clean": "false",
        "filter.broken.smudge": "false",
        "filter.broken.required": "true",
        "status.showUntrackedFiles": "no",
    }
    for name, value in settings.items():
        world.git("config", "--global", name, value)
    return {
        "GIT_DIR": str(world.repo / ".git"),
        "GIT_WORK_TREE": str(world.repo),
        "GIT_INDEX_FILE": str(world.root / "index"),
        "GIT_TEMPLATE_DIR": str(template),
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": str(hooks),
        "GIT_PYTHON_GIT_EXECUTABLE": "/nonexistent",
        "PLAN_ID": "other",
        "PLAN_HOME": str(world.root / "plan home"),
        "PLAN_DATABASE_URL": "postgresql+psycopg://nobody@localhost:1/nothing",
    }


def _shell(world: World, before: str, **env: str) -> Ran:
    """The program, started by a shell that does something first."""
    script = f'{before}; exec "$@"'
    return world.run("/bin/sh", "-c", script, "sh", *PROGRAM, cwd=world.root, env=env)


def _where_deleted(world: World) -> Ran:
    return _shell(world, "mkdir gone; cd gone; rmdir ../gone")


def _in_nothing(world: World) -> Ran:
    # Without PYTHONPATH the program is not found where it is not installed.
    path = os.environ.get("PYTHONPATH")
    env = {"TMPDIR": str(temporary_files(world)), **({"PYTHONPATH": path} if path else {})}
    done = subprocess.run(
        PROGRAM, cwd=world.root, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    return Ran(PROGRAM, done.returncode, done.stdout, done.stderr)


def _by_nobody(world: World) -> Ran:
    world.root.chmod(0o755)
    if os.geteuid() == 0:
        os.chown(temporary_files(world), owners.NOBODY, owners.NOBODY)
    return forked.run_forked(world, "demo", cwd=world.root, before=owners.become_nobody)


def _with_program(world: World, name: str, does: str) -> Ran:
    folder = world.root / "programs"
    write_files(folder, {name: f"#!/bin/sh\n{does}\n"})
    (folder / name).chmod(0o755)
    return world.plan(
        "demo", cwd=world.root, env={"PATH": f"{folder}:{world.environment()['PATH']}"}
    )


def _with_temporary_file(world: World) -> Ran:
    write_files(world.root, {"file": ""})
    return world.plan("demo", cwd=world.root, env={"TMPDIR": str(world.root / "file")})


SURROUNDINGS: dict[str, Callable[[World], Ran]] = {
    "in a directory that was deleted": _where_deleted,
    "with an empty environment": _in_nothing,
    "by somebody who is not root, under a umask": _by_nobody,
    "where TMPDIR is not there": lambda world: world.plan(
        "demo", cwd=world.root, env={"TMPDIR": str(world.root / "nosuch")}
    ),
    "where TMPDIR is a file": _with_temporary_file,
    # A limit on the size of files is a full disk that needs no file system of its own.
    "on a disk that is full": lambda world: _shell(
        world, "unset COVERAGE_PROCESS_START; ulimit -f 64"
    ),
    "without git": lambda world: world.plan("demo", cwd=world.root, env={"PATH": "/nonexistent"}),
    "where chmod does nothing": lambda world: _with_program(world, "chmod", "exit 0"),
    "where cp fails": lambda world: _with_program(world, "cp", "echo 'cp: no' >&2; exit 1"),
    "with a full disk behind standard output": lambda world: _shell(world, "exec >/dev/full"),
}


def interrupted_at_git(world: World, number: int, subcommand: str) -> Ran:
    """Send a signal to the program alone, while a git of its own is at work."""
    env = {**world.environment(), **faults.faulty_git(world, subcommand, "dawdles")}
    with subprocess.Popen(
        PROGRAM, cwd=world.root, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as plan:
        faults.wait_until_it_dawdles(world)
        plan.send_signal(number)
        out, err = plan.communicate(timeout=300)
    return Ran(PROGRAM, plan.returncode, out, err)


def first_line_read(world: World) -> Ran:
    """The program in a pipe whose reader ends after one line."""
    with subprocess.Popen(
        PROGRAM,
        cwd=world.root,
        env=world.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as plan:
        assert plan.stdout is not None
        assert plan.stderr is not None
        line = plan.stdout.readline()
        plan.stdout.close()
        err = plan.stderr.read()
        return Ran(PROGRAM, plan.wait(timeout=300), line, err)


def signal_named(name: str) -> int:
    return signal.Signals[name]


def check_saved(world: World) -> None:
    """The sandbox of a demonstration that was kept, as git and the disk show it."""
    sandbox = sandbox_of_demo(world)
    found = walk(sandbox)
    assert found.keys() >= SAVED, found.keys()
    assert not found.keys() & (WRECKED - SAVED), found.keys()
    assert found[b"src/cart.py"][2] == b"price = 1\n", found[b"src/cart.py"]
    assert world.git("status", "--porcelain", cwd=sandbox) == "AM src/login.py\n"
    assert world.git("symbolic-ref", "HEAD", cwd=sandbox) == "refs/heads/plan/auth\n"


def check_wrecked(world: World) -> None:
    sandbox = sandbox_of_demo(world)
    found = walk(sandbox)
    assert found.keys() >= WRECKED, found.keys()
    assert not found.keys() & (SAVED - WRECKED), found.keys()
    assert found[b"assets"] == ("link", 0, b"../.."), found[b"assets"]
    assert world.git("status", "--porcelain", cwd=sandbox) == "M  README.md\n"
    assert world.git("branch", "--list", "plan/auth", cwd=sandbox) == ""


SIGHTS = {"what was saved": check_saved, "the wreck": check_wrecked}
