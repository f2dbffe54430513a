"""The program in a process of its own without the cost of starting Python: a fork of this one."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from backtrail.cli.main import main
from backtrail.domain.failpoints import NO_FAILPOINTS, Failpoints
from backtrail.git.process.environment import git_executable
from support.world.world import Ran, World

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


# What a command loads only when it runs is loaded once here instead of in every fork.
for _module in ("typer._adapters", "backtrail.cli.render.look", "backtrail.git.user.repository"):
    with suppress(ImportError):
        import_module(_module)


class KillHere:
    """Dies by SIGKILL at a named place."""

    def __init__(self, name: str) -> None:
        self._name = name

    def reach(self, name: str) -> None:
        if name == self._name:
            os.kill(os.getpid(), signal.SIGKILL)


class DoHere:
    """Does something when a named place is passed for the first time."""

    def __init__(self, name: str, action: Callable[[], object]) -> None:
        self._name = name
        self._actions = [action]

    def reach(self, name: str) -> None:
        if name == self._name and self._actions:
            self._actions.pop()()


class WriteHere:
    """Somebody who writes to a file while the program is at a named place."""

    def __init__(self, name: str, path: Path, content: str) -> None:
        self._name = name
        self._path = path
        self._content = content

    def reach(self, name: str) -> None:
        if name == self._name:
            self._path.write_text(self._content)


def end_after(seconds: int) -> None:
    """Let this process be ended by the system, should it still be there by then."""
    signal.alarm(seconds)


def run_forked(
    world: World,
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    failpoints: Failpoints = NO_FAILPOINTS,
    before: Callable[[], None] = lambda: None,
) -> Ran:
    """Run the program as `plan` with these arguments, nobody at the terminal."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os.chdir(cwd or world.repo)
            os.environ.clear()
            os.environ.update({**world.environment(), **(env or {})})
            git_executable.cache_clear()  # a new process looks for git on its own PATH
            before()
            be_the_program(arguments, out, err, failpoints)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        return Ran(("plan", *arguments), code, text_of(out), text_of(err)).documented()


def be_the_program(
    arguments: tuple[str, ...], out: BinaryIO, err: BinaryIO, failpoints: Failpoints
) -> NoReturn:
    code = 99
    gc.disable()
    try:
        with Path(os.devnull).open("rb") as nothing:
            for source, target in ((nothing, 0), (out, 1), (err, 2)):
                os.dup2(source.fileno(), target)
        sys.stdin = io.TextIOWrapper(io.FileIO(0), encoding="utf-8")
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w")), encoding="utf-8")
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(io.FileIO(2, "w")), encoding="utf-8")
        sys.argv = ["plan", *arguments]
        try:
            main(arguments, failpoints=failpoints)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        # Nothing of the parent, behave's report least of all, may be written by the child.
        os._exit(code)


def text_of(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "surrogateescape")
