"""Kills `plan create`, `fork` and `restore`, git and all, at one system call after the other.

By hand: python features/kill_hunt.py [--kills 300] [create] [fork] [restore]. strace tells of each
call that changes something, and holds the next one up until everything has been killed. Then the
user's git has to work, the next command has to finish or take back what was begun, and nothing
may lie about. Exits with 1 if any kill stuck, and with 77 where strace is missing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from backtrail.cli.main import main as main_of_plan

SKIPPED = 77
_HELD = (
    "write,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,"
    "unlink,unlinkat,rmdir,chmod,fchmod,fchmodat,ftruncate"
)
_PAUSE_US = 4000
_TELL_EACH = 10
_CALL = re.compile(r"^(?:\[pid +\d+\] |\d+ +)?(?:<\.\.\. )?(\w+)")
_OUTPUT = re.compile(r"write\([12],")
PLAN = [sys.executable, "-c", "from backtrail.cli.main import main; main()"]
NAME = "auth"


@dataclass(frozen=True, slots=True)
class Command:
    """What is killed, and what comes before it."""

    words: tuple[str, ...]
    before: tuple[tuple[str, ...], ...]
    next_ones: tuple[tuple[tuple[str, ...], ...], ...]
    """Ways to go on, in turn; after each of them the plan has to be there and whole."""


_SAVED = (("create", "base"), ("save", "base", "--label", "one"))
_MADE = (("create", NAME), ("save", NAME))
COMMANDS = {
    "create": Command(
        ("create", NAME),
        (),
        (
            (("create", NAME, "--if-exists", "use"),),
            (("remove", NAME, "--yes"), ("create", NAME)),
            (("status", NAME), ("create", NAME, "--if-exists", "use")),
        ),
    ),
    "fork": Command(
        ("fork", "base", "one", NAME),
        _SAVED,
        (
            (("fork", "base", "one", NAME),),
            (("remove", NAME, "--yes"), ("fork", "base", "one", NAME)),
            (("save", NAME),),
        ),
    ),
    "restore": Command(
        ("restore", NAME),
        (*_MADE, ("remove", NAME, "--yes", "--purge-files", "--confirm", NAME)),
        (
            (("restore", NAME),),
            (("restore", NAME), ("remove", NAME, "--yes"), ("restore", NAME)),
        ),
    ),
}


class World:
    """A small repository in a directory of its own, which can be made again as it was."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.repo = root / "world" / "repo"
        self.sandboxes = root / "world" / "repo.plans"
        self._copy = root / "copy"
        self.environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        }

    def make(self, before: tuple[tuple[str, ...], ...]) -> None:
        self.repo.mkdir(parents=True)
        for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "first"]):
            (self.repo / "README.md").write_text("hello\n")
            (self.repo / "src").mkdir(exist_ok=True)
            (self.repo / "src" / "a.txt").write_text("a\n")
            self.git(*words, check=True)
        for words in before:
            self.plan(*words, check=True)
        subprocess.run(["cp", "-a", self.root / "world", self._copy], check=True)

    def again(self) -> None:
        shutil.rmtree(self.root / "world")
        subprocess.run(["cp", "-a", self._copy, self.root / "world"], check=True)

    def git(self, *words: str, check: bool = False) -> subprocess.CompletedProcess[str]:
        return self._run(["git", *words], check=check)

    def plan(self, *words: str, check: bool = False) -> tuple[int, str]:
        """Run the program in a fork of this one, which spares its start; code and what it said."""
        with tempfile.TemporaryFile() as said:
            child = os.fork()
            if child == 0:
                os.chdir(self.repo)
                os.environ.clear()
                os.environ.update(self.environment)
                for target in (1, 2):
                    os.dup2(said.fileno(), target)
                _be_the_program(words)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said.seek(0)
            text = said.read().decode(errors="replace")
        if check and code:
            raise SystemExit(f"plan {words}: {text}")
        return code, text

    def _run(self, words: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
        ran = subprocess.run(
            words, cwd=self.repo, env=self.environment, capture_output=True, text=True, check=False
        )
        if check and ran.returncode:
            raise SystemExit(f"{words}: {ran.stderr}")
        return ran


def _be_the_program(words: tuple[str, ...]) -> NoReturn:
    code = 99
    try:
        main_of_plan(list(words))
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def kill_after(world: World, nth: int, words: tuple[str, ...]) -> str | None:
    """Run a command and kill all of it after so many changing calls; None if it has fewer."""
    tell, told = os.pipe()
    strace = [
        "strace", "-f", "-qq", "-s", "90", "-e", "signal=none", "-o", f"/dev/fd/{told}",
        "-e", f"trace={_HELD},openat",
        "-e", f"inject={_HELD}:delay_enter={_PAUSE_US}",
    ]  # fmt: skip
    ran = subprocess.Popen(
        [*strace, *PLAN, *words],
        cwd=world.repo,
        env=world.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(told,),
        start_new_session=True,
    )
    os.close(told)
    count, place = 0, None
    with os.fdopen(tell, encoding="utf-8", errors="replace") as calls:
        for line in calls:
            if not _changes(line):
                continue
            count += 1
            if count == nth:
                place = line.strip()
                _kill_session(ran.pid)
                break
    _kill_session(ran.pid)
    ran.wait()
    return place


def _changes(line: str) -> bool:
    call = _CALL.match(line)
    if call is None or "<unfinished" in line or " = -1 " in line or _OUTPUT.search(line):
        return False
    return call[1] != "openat" or "O_CREAT" in line or "O_TRUNC" in line


def _kill_session(leader: int) -> None:
    """All but strace first: what it traces would go on without it."""
    while others := [pid for pid in _session(leader) if pid != leader]:
        for pid in others:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(leader, signal.SIGKILL)


def _session(leader: int) -> list[int]:
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, IndexError):
            words = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            if int(words[3]) == leader and words[0] not in "ZX":
                found.append(int(name))
    return found


def what_is_wrong(world: World, command: Command, turn: int) -> list[str]:
    """Look at the repository as a kill left it, go on, and look again."""
    wrong: list[str] = []
    for words in (("worktree", "list"), ("status", "--porcelain"), ("branch", "--list")):
        ran = world.git(*words)
        if ran.returncode or (words[0] == "status" and ran.stdout):
            wrong.append(f"git {' '.join(words)}: {ran.stdout}{ran.stderr}".strip())
    for words in command.next_ones[turn % len(command.next_ones)]:
        code, said = world.plan(*words)
        in_place = "there is nothing to restore" in said
        not_begun = words[0] in ("remove", "status", "save") and "there is no plan" in said
        if words[0] == "save" and not_begun:
            return [*wrong, *_litter(world, made=False)]
        if code and not in_place and not not_begun:
            last = (said.strip() or "nothing was said").splitlines()
            wrong.append(f"plan {' '.join(words)}: {code}: {' / '.join(last[-2:])}")
    return [*wrong, *_not_whole(world), *_litter(world, made=True)]


def _not_whole(world: World) -> list[str]:
    sandbox = world.sandboxes / NAME
    if not (sandbox / "README.md").is_file():
        return ["the sandbox is not there, or not filled"]
    (sandbox / "README.md").write_text("spoiled\n")
    for words in (("rollback", NAME, "latest", "--yes"), ("save", NAME)):
        code, said = world.plan(*words)
        if code:
            return [f"plan {' '.join(words)}: {code}: {said.strip()}"]
    names = sorted(path.name for path in sandbox.iterdir())
    if names != [".git", "README.md", "src"]:
        return [f"the sandbox holds {names}"]
    ran = world.git("-C", str(sandbox), "status", "--porcelain", "--branch")
    return [] if ran.stdout == f"## plan/{NAME}\n" else [f"git status: {ran.stdout}{ran.stderr}"]


def _litter(world: World, *, made: bool) -> list[str]:
    """What lies about in the repository and beside the sandbox that no plan needs."""
    git_dir = world.repo / ".git"
    plans = {path.name for path in world.sandboxes.iterdir()} if world.sandboxes.exists() else set()
    found = [str(path) for path in git_dir.rglob("*.lock") if "backtrail" not in path.parts]
    found += [str(path) for path in git_dir.glob("backtrail-*")]
    found += [] if plans <= {NAME, "base"} else sorted(plans)
    registered = world.git("worktree", "list", "--porcelain").stdout.count("worktree ") - 1
    there = sum(1 for _ in (git_dir / "worktrees").glob("*"))
    if not registered == there == len(plans):
        found.append(f"{there} registered, git lists {registered}, there are {sorted(plans)}")
    branches = world.git("for-each-ref", "--format=%(refname)").stdout.split()
    wanted = ["refs/heads/main", *(f"refs/heads/plan/{name}" for name in sorted(plans))]
    if made and branches != wanted:
        found.append(f"branches {branches}")
    return [f"left over: {what}" for what in found]


def hunt(name: str, kills: int, first: int, step: int) -> Counter[str]:
    command, seen = COMMANDS[name], Counter[str]()
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory))
        world.make(command.before)
        for turn in range(kills):
            place = kill_after(world, first + turn * step, command.words)
            if place is None:
                break
            wrong = what_is_wrong(world, command, turn)
            seen["stuck" if wrong else "went on"] += 1
            if wrong:
                print(
                    f"{name}, call {first + turn * step}: {place}", *wrong, sep="\n    ", flush=True
                )
            if seen.total() % _TELL_EACH == 0:
                print(f"{name}: {seen.total()} kills so far, {seen['stuck']} stuck", flush=True)
            world.again()
    print(f"{name}: {seen.total()} kills, {seen['stuck']} stuck", flush=True)
    return seen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", help="create, fork, restore; all by default")
    parser.add_argument("--kills", type=int, default=300, help="at most so many for each")
    parser.add_argument("--first", type=int, default=1, help="the first call to kill at")
    parser.add_argument("--step", type=int, default=1, help="only every so manieth call")
    words = parser.parse_args()
    if shutil.which("strace") is None:
        print("skipped: strace is not installed, and nothing was killed")
        return SKIPPED
    total = Counter[str]()
    for name in words.commands or COMMANDS:
        total += hunt(name, words.kills, words.first, words.step)
    print(f"in all: {total.total()} kills, {total['stuck']} stuck")
    return 1 if total["stuck"] else 0


if __name__ == "__main__":
    sys.exit(main())
