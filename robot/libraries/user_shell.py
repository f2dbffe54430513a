"""A user's shell and terminal in a directory of its own, and a look at the disk without git."""

import fcntl
import hashlib
import json
import os
import pty
import re
import runpy
import select
import shutil
import stat
import struct
import subprocess
import tempfile
import termios
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 300.0
COLUMNS = 110
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_KEYS = {"CTRL-C": "\x03", "CTRL-D": "\x04"}
# The features' own check; their directory is not on the path of Robot Framework.
_SCHEMAS = Path(__file__).resolve().parents[2] / "features" / "support" / "program" / "schemas.py"
_CHECK_ENVELOPE: Callable[[dict[str, Any]], None] = runpy.run_path(str(_SCHEMAS))["check_envelope"]

Picture = dict[str, tuple[str, bool, str]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command printed and how it ended."""

    code: int
    stdout: str
    stderr: str


class user_shell:  # noqa: N801 - Robot Framework finds a library by the name of its file
    """Runs command lines as a user would; the current directory is remembered between them."""

    ROBOT_LIBRARY_SCOPE = "SUITE"

    def __init__(self) -> None:
        self._home = Path()
        self._directory = Path()
        self._lock: int | None = None

    def move_in(self) -> str:
        """Make a place whose path has blanks and more than ASCII in it, with an empty HOME."""
        top = Path(tempfile.mkdtemp(prefix="backtrail robot "))
        self._home = top / "home"
        self._home.mkdir()
        self._directory = top / "wörk spåce ☂"
        self._directory.mkdir()
        return str(self._directory)

    def move_out(self) -> None:
        """Leave nothing behind."""
        self.let_go()
        shutil.rmtree(self._home.parent)

    def go_to(self, directory: str) -> None:
        """Change the current directory of all later commands."""
        self._directory = self._directory / directory
        if not self._directory.is_dir():
            raise AssertionError(f"there is no directory {self._directory}")

    def shell(self, command: str, code: int = 0) -> Outcome:
        """Run a command line without a terminal; it must exit with the code."""
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self._directory,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        outcome = Outcome(
            done.returncode,
            done.stdout.decode("utf-8", "surrogateescape"),
            done.stderr.decode("utf-8", "surrogateescape"),
        )
        _check_code(command, outcome, code)
        return outcome

    def envelope_of(self, command: str, code: int = 0) -> dict[str, Any]:
        """Run a command with --format json: one envelope as documented, agreeing with the code."""
        outcome = self.shell(f"{command} --format json", code)
        if outcome.stderr:
            raise AssertionError(f"{command} also said: {outcome.stderr}")
        envelope: dict[str, Any] = json.loads(outcome.stdout)
        _CHECK_ENVELOPE(envelope)
        if envelope["exit_code"] != code:
            raise AssertionError(f"the envelope of {command} says {envelope['exit_code']}")
        return envelope

    def these_fail(self, *table: str) -> None:
        """Rows of exit code, error code and command, run side by side, each with an envelope."""
        _all_pass(self._should_fail, table)

    def these_print(self, *table: str) -> None:
        """Rows of the one line that is printed and the command that prints it, side by side."""
        _all_pass(self._should_print, table)

    def _should_fail(self, code: str, error: str, command: str) -> None:
        envelope = self.envelope_of(command, int(code))
        told: dict[str, str] = envelope["error"] or {}
        if envelope["status"] != "error" or envelope["data"] is not None:
            raise AssertionError(f"{command} failed, but its envelope does not say so: {envelope}")
        if told["code"] != error or not told["message"] or not told["hint"]:
            raise AssertionError(f"{command} told another error, or no reason or hint: {told}")

    def _should_print(self, line: str, command: str) -> None:
        outcome = self.shell(command)
        if outcome.stdout != f"{line}\n" or outcome.stderr:
            raise AssertionError(f"{command} printed {outcome.stdout!r}, {outcome.stderr!r}")

    def terminal(self, command: str, *dialogue: str, code: int = 0) -> str:
        """Run a command on a terminal of its own and give what the screen showed, without colours.

        The dialogue is pairs: a text to wait for, and what to type then.
        """
        pid, screen = pty.fork()
        if pid == 0:
            # Here and not in the parent: the program must not see its terminal without a size.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
            os.chdir(self._directory)
            # Without exec the shell would get the Ctrl-C as well, and end by it.
            os.execve("/bin/sh", ["sh", "-c", f"exec {command}"], self._environment())
        shown = ""
        for question, answer in zip(dialogue[::2], dialogue[1::2], strict=True):
            shown += _read_until(screen, question)
            os.write(screen, _KEYS.get(answer, f"{answer}\n").encode())
        shown += _read_until(screen, None)
        os.close(screen)
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        _check_code(command, Outcome(ended, shown, ""), code)
        return shown

    def picture_of(self, directory: str) -> Picture:
        """Every file and link below a directory but .git: kind, executable or not, content."""
        picture: Picture = {}
        for folder, folders, files in os.walk(os.fsencode(directory)):
            for name in [*files, *folders]:
                path = os.path.join(folder, name)
                relative = os.fsdecode(os.path.relpath(path, os.fsencode(directory)))
                entry = None if name == b".git" else _entry(path)
                if entry:
                    picture[relative] = entry
            folders[:] = [name for name in folders if name != b".git"]
        return picture

    def pictures_should_match(self, wanted: Picture, found: Picture, *but: str) -> None:
        """Compare two pictures, leaving out the paths named last; an empty one proves nothing."""
        if not wanted:
            raise AssertionError("the picture to compare with is empty")
        paths = sorted((wanted.keys() | found.keys()) - set(but))
        different = [path for path in paths if wanted.get(path) != found.get(path)]
        if different:
            raise AssertionError(f"these differ: {different}")

    def pictures_should_differ(self, one: Picture, other: Picture, *in_paths: str) -> None:
        """Fail unless every named path differs: what a check would miss must be there to see."""
        same = [path for path in in_paths if one.get(path) == other.get(path)]
        if same:
            raise AssertionError(f"these do not differ: {same}")

    def hold_lock_of(self, file: str) -> None:
        """Hold a lock file as another process of Backtrail would."""
        self._lock = os.open(file, os.O_RDWR)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def let_go(self) -> None:
        """Let go of the lock, if one is held."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _environment(self) -> dict[str, str]:
        """What a user's login would set, and no identity for git but the suite's own."""
        measuring = {k: v for k, v in os.environ.items() if k.startswith("COVERAGE_")}
        return {
            **measuring,
            "PATH": os.environ["PATH"],
            "HOME": str(self._home),
            "USER": "robot",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
            "TMPDIR": str(self._home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_AUTHOR_NAME": "Robot",
            "GIT_AUTHOR_EMAIL": "robot@example.org",
            "GIT_COMMITTER_NAME": "Robot",
            "GIT_COMMITTER_EMAIL": "robot@example.org",
        }


def _check_code(command: str, outcome: Outcome, code: int) -> None:
    if outcome.code != code:
        raise AssertionError(
            f"{command} exited with {outcome.code} instead of {code}:\n"
            f"{outcome.stdout}\n{outcome.stderr}"
        )


def _all_pass(check: Callable[..., None], table: tuple[str, ...]) -> None:
    """Check every row of a table, some at the same time, and tell all that is wrong."""
    width = len(signature(check).parameters)
    rows = [table[at : at + width] for at in range(0, len(table), width)]
    with ThreadPoolExecutor(max_workers=4) as pool:
        done = [pool.submit(check, *row) for row in rows]
    problems = [str(future.exception()) for future in done if future.exception()]
    if problems or not rows:
        raise AssertionError("\n".join(problems) or "the table is empty")


def _read_until(screen: int, text: str | None) -> str:
    """What the screen shows up to a text, or, without one, to the end of the program."""
    raw = b""
    shown = ""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while text is None or text not in shown:
        ready, _, _ = select.select([screen], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise AssertionError(f"{text!r} did not appear on the screen:\n{shown}")
        try:
            piece = os.read(screen, 65536)
        except OSError:
            piece = b""  # how Linux says that the program has closed its terminal
        if not piece and text is not None:
            raise AssertionError(f"the program ended without {text!r}:\n{shown}")
        if not piece:
            break
        raw += piece
        shown = _ESCAPES.sub("", raw.decode("utf-8", "replace"))
        shown = shown.replace("\r\n", "\n").replace("\r", "\n")
    return shown


def _entry(path: bytes) -> tuple[str, bool, str] | None:
    found = os.lstat(path)
    if stat.S_ISDIR(found.st_mode):
        return None
    if stat.S_ISLNK(found.st_mode):
        return "link", False, os.fsdecode(os.readlink(path))
    with open(path, "rb") as file:
        content = hashlib.sha256(file.read()).hexdigest()
    return "file", bool(found.st_mode & stat.S_IXUSR), content
