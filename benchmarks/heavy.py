"""Every command at size: its time beside git's own for the same work, and the most memory.

Run it by hand: python -m benchmarks.heavy [--small] [--only CASE] [--place DIRECTORY]
Each command is a process of its own, as a user starts it. Memory is that of the largest process
that took part in it. git does the same work right afterwards, in a worktree that was changed alike.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import rows

PLAN = (sys.executable, "-c", "from backtrail.cli.main import main; main()")
GIT = ("git", "-c", "gc.auto=0", "-c", "core.hooksPath=/dev/null")
ADD, COMMIT = ("add", "-A"), ("commit", "-qm", "x")
STATUS, CLEAN = ("status", "--porcelain"), ("clean", "-fdq")
BACK, FORTH = ("reset", "-q", "--hard", "HEAD~1"), ("reset", "-q", "--hard", "ORIG_HEAD")
IDENTITY = {
    f"GIT_{who}_{what}": "heavy@example.com"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}
WIDTH = 100


class Failed(Exception):
    """A command did not end as it should."""


class Bench:
    """A repository, a plan in it, and a worktree where git does the same without us."""

    def __init__(self, place, case):
        self.case = case
        self.repo = place / "repo"
        self.twin = place / "twin"
        self.sandbox = None
        self.env = {**os.environ, **IDENTITY, "HOME": str(place), "GIT_CONFIG_GLOBAL": os.devnull}

    def begin(self, paths, text="file {}\n"):
        """Commit files, make the plan and the twin."""
        self.repo.mkdir(parents=True)
        self.git(("init", "-q"), cwd=self.repo)
        write(self.repo, paths, text)
        for words in (ADD, COMMIT, ("gc", "-q")):
            self.git(words, cwd=self.repo)
        self.compare("create", ["create", "p"], [self.worktree("twin", self.twin)], cwd=self.repo)
        self.sandbox = Path(self.plan("path", "p", cwd=self.repo).decode().strip())

    def both(self, change, *arguments):
        for root in (self.sandbox, self.twin):
            change(root, *arguments)
        # An index that is as young as the files in it makes git, and us, read them all again.
        time.sleep(1.1)

    def compare(self, name, ours, theirs, *, cwd=None, git_cwd=None, wanted=(0,)):
        """One row of the table; gives what our command had to say."""
        words = [*PLAN, *ours, "--format", "json"]
        took, memory, output, code = measured(words, cwd or self.sandbox, self.env)
        if code not in wanted:
            raise Failed(f"{' '.join(ours)}: exit {code}\n{output[-2000:].decode()}")
        git_took = sum(
            measured([*GIT, *w], git_cwd or cwd or self.twin, self.env, must=True)[0]
            for w in theirs
        )
        ratio = f"{took / git_took:7.1f}" if theirs else f"{'-':>7}"
        git_said = f"{git_took:8.2f}" if theirs else f"{'-':>8}"
        print(
            f"{self.case:<26} {name:<30} {took:8.2f} s {git_said} s {ratio} {memory:7.0f} MiB",
            flush=True,
        )
        return json.loads(output)

    def plan(self, *words, cwd=None):
        words = [*PLAN, *words, "--format", "plain"]
        _, _, output, code = measured(words, cwd or self.sandbox, self.env)
        if code:
            raise Failed(f"{' '.join(words)}: exit {code}")
        return output

    def git(self, words, cwd=None):
        measured([*GIT, *words], cwd or self.twin, self.env, must=True)

    @staticmethod
    def worktree(branch, path):
        return ("worktree", "add", "-q", "-b", branch, str(path))


def measured(words, cwd, env, *, must=False):
    """Seconds, MiB of the largest process, standard output and exit code of a command."""
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(words, cwd=cwd, env=env, stdout=output, stderr=sys.stderr)
        _, status, usage = os.wait4(process.pid, 0)
        took = time.perf_counter() - began
        process.returncode = code = os.waitstatus_to_exitcode(status)
        if must and code:
            raise Failed(f"{' '.join(words)}: exit {code}")
        output.seek(0)
        return took, usage.ru_maxrss / 1024, output.read(), code


def spread(count, name="file{}.txt"):
    return [f"d{n % WIDTH:03}/s{n % 7}/{name.format(n)}" for n in range(count)]


def write(root, paths, text):
    for directory in {Path(path).parent for path in paths}:
        (root / directory).mkdir(parents=True, exist_ok=True)
    for number, path in enumerate(paths):
        (root / path).write_text(text.format(number))


def delete(root, paths):
    for path in paths:
        (root / path).unlink()


def compare_changes(bench, word, change, arguments, again):
    """A mass change is looked at, saved, taken back, brought back, and taken back unsaved."""
    bench.both(change, *arguments)
    bench.compare(f"save, {word}", ["save", "--label", word], [ADD, COMMIT])
    bench.compare("save, the same again", ["save"], [STATUS])
    numstat = ("diff", "--numstat", "HEAD~1", "HEAD")
    bench.compare(f"diff of two, {word}", ["diff", "first", word], [numstat])
    bench.compare(f"rollback, {word}", ["rollback", "first", "--yes"], [STATUS, BACK, CLEAN])
    bench.compare(f"undo, {word}", ["undo"], [STATUS, FORTH])
    bench.compare("rollback again", ["rollback", "first", "--yes"], [STATUS, BACK, CLEAN])
    bench.both(change, *again)
    # Both count the lines that were added and removed; git does not keep what it read for that.
    count = [STATUS, ("add", "-AN"), ("diff", "--numstat", "HEAD")]
    bench.compare(f"status, {word}", ["status"], count)
    bench.compare(f"diff, {word}", ["diff"], count)
    theirs = [ADD, COMMIT, BACK, CLEAN]
    bench.compare("rollback, unsaved", ["rollback", "first", "--yes"], theirs)
    bench.compare("log", ["log"], [("log", "--stat", "--all")])
    bench.compare("checkpoint list", ["checkpoint", "list"], [("log", "--all", "--oneline")])
    bench.compare("checkpoint show", ["checkpoint", "show", "latest"], [("log", "-1")])
    bench.compare("ops", ["ops"], [("reflog",)])
    bench.compare("list", ["list"], [("worktree", "list")])


def edited(place, count):
    bench = Bench(place, f"{count:,} edited")
    paths = spread(count)
    bench.begin(paths)
    compare_changes(bench, "edited", write, (paths, "changed {}\n"), (paths, "again {}\n"))


def untracked(place, count):
    bench = Bench(place, f"{count:,} new")
    bench.begin(["a.txt"])
    paths = spread(count)
    compare_changes(bench, "new", write, (paths, "new {}\n"), (paths, "again {}\n"))


def deleted(place, count):
    bench = Bench(place, f"{count:,} deleted")
    paths = spread(count)
    bench.begin(["a.txt", *paths])
    compare_changes(bench, "deleted", delete, (paths,), (paths,))


def many(place, count):
    """What makes, moves and ends whole sandboxes."""
    bench = Bench(place, f"{count:,} files")
    paths = spread(count)
    bench.begin(paths)
    bench.both(write, paths, "changed {}\n")
    bench.compare("save", ["save"], [ADD, COMMIT])
    worktree = bench.worktree
    bench.compare("fork", ["fork", "latest", "f"], [worktree("f2", place / "f2")])
    bench.compare(
        "remove", ["remove", "f", "--yes"], [("worktree", "remove", "--force", str(place / "f2"))],
        cwd=bench.repo,
    )  # fmt: skip
    bench.compare("restore", ["restore", "f"], [worktree("f3", place / "f3")], cwd=bench.repo)
    export = place / "export"
    archive = ("archive", "-o", str(place / "export.tar"), "HEAD")
    bench.compare("export", ["checkpoint", "export", "latest", str(export)], [archive])
    bench.git(worktree("other", place / "other"), cwd=bench.repo)
    merge = ("merge", "-q", "--no-ff", "-m", "x", "twin")
    apply = ["apply", "p", "--yes"]
    bench.compare("apply", apply, [merge], git_cwd=place / "other", cwd=bench.repo)
    write(bench.repo, paths, "dirty {}\n")
    time.sleep(1.1)
    theirs = [("stash", "-q"), worktree("dirty", place / "dirty"), ("stash", "apply", "-q")]
    bench.compare("create --from-dirty", ["create", "d", "--from-dirty"], theirs, cwd=bench.repo)
    bench.compare("gone", ["remove", "d", "--yes", "--purge", "--confirm", "d"], [], cwd=bench.repo)


def ignored(place, word, rules, paths):
    bench = Bench(place, f"{len(paths):,} ignored, {word}")
    bench.begin([*spread(2000), "a.txt"])
    write(bench.repo, [".gitignore"], rules)
    bench.both(write, [".gitignore"], rules)
    bench.both(write, paths, "ignored\n")
    bench.compare("save, first", ["save"], [ADD, COMMIT])
    bench.both(write, ["a.txt"], "changed {}\n")
    bench.compare("status", ["status"], [STATUS])
    bench.compare("diff", ["diff"], [STATUS, ("diff", "--numstat", "HEAD")])
    bench.compare("save", ["save", "--label", "one"], [ADD, COMMIT])
    bench.compare("rollback", ["rollback", "latest~1", "--yes"], [STATUS, BACK, CLEAN])
    bench.compare("undo", ["undo"], [STATUS, FORTH])
    # What the target does not ignore is in the way of it, or survives it.
    bench.compare("rollback to before", ["rollback", "first", "--yes"], [STATUS, BACK])
    bench.compare("fork", ["fork", "one", "f"], [bench.worktree("f2", place / "f2")])
    bench.compare("remove", ["remove", "p", "--yes"], [], cwd=bench.repo)


def ignored_in_one(place, count):
    ignored(place, "one place", "build/\n", [f"build/o{n}.o" for n in range(count)])


def ignored_spread(place, count):
    ignored(place, "spread", "*.o\n", spread(count, "o{}.o"))


def ignored_at_top(place, count):
    ignored(place, "on top", "*.o\n", [f"o{n}.o" for n in range(count)])


def large(place, count, size):
    bench = Bench(place, f"{size >> 20:,} MiB in {count:,}")
    bench.begin(spread(count))
    write(bench.repo, ["plan.toml"], '[capture]\nmax_file_size = "4 GiB"\n')

    def add(root):
        with (root / "large.bin").open("wb") as file:
            file.writelines(os.urandom(1024) * 1024 for _ in range(size >> 20))

    def edit(root):
        with (root / "large.bin").open("r+b") as file:
            file.seek(size // 2)
            file.write(b"x")

    bench.both(add)
    bench.compare("save, new", ["save"], [ADD, COMMIT])
    bench.both(edit)
    bench.compare("status", ["status"], [STATUS])
    bench.compare("save, edited", ["save"], [ADD, COMMIT])
    bench.compare("save, the same again", ["save"], [STATUS])
    bench.compare("rollback, edited", ["rollback", "latest~2", "--yes"], [STATUS, BACK, CLEAN])
    bench.compare("undo, edited", ["undo"], [STATUS, FORTH])


def plans(place, count):
    """Rows of many plans beside a real one; git has as many worktrees."""
    bench = Bench(place, f"{count:,} plans")
    bench.begin(spread(100))
    rows.copy_plan(database_of(bench), "p", count)
    bench.compare("list", ["list"], [("worktree", "list")])
    bench.compare("list --all", ["list", "--all"], [("worktree", "list")])
    bench.compare("status", ["status"], [STATUS])
    bench.compare("create", ["create", "q"], [bench.worktree("q2", place / "q2")], cwd=bench.repo)
    bench.compare("save", ["save"], [ADD, ("commit", "-q", "--allow-empty", "-m", "x")])
    bench.compare("rollback", ["rollback", "first", "--yes"], [STATUS, BACK, CLEAN])
    bench.compare("fork", ["fork", "latest", "f"], [bench.worktree("f2", place / "f2")])
    bench.compare("remove", ["remove", "q", "--yes"], [("worktree", "remove", str(place / "q2"))])
    bench.compare("restore", ["restore", "q"], [])


def checkpoints(place, count):
    """Rows and refs of many checkpoints, whose commits are those of a few real ones."""
    bench = Bench(place, f"{count:,} checkpoints")
    bench.begin(spread(100))
    bench.plan("policy", "--max-checkpoints", str(2 * count))
    for number in range(10):
        bench.both(write, ["a.txt"], f"version {number}\n")
        bench.plan("save")
        for words in (ADD, COMMIT):
            bench.git(words)
    rows.copy_checkpoints(database_of(bench), store_of(bench), count, bench.env)
    log = ("log", "--all", "--oneline")
    bench.compare("checkpoint list", ["checkpoint", "list"], [log])
    bench.compare("log", ["log"], [("log", "--stat", "--all")])
    bench.compare("ops", ["ops"], [("reflog",)])
    bench.compare("checkpoint show", ["checkpoint", "show", str(count // 2)], [log])
    bench.compare("list", ["list"], [("worktree", "list")])
    bench.compare("status", ["status"], [STATUS])
    bench.compare("diff", ["diff", "first"], [STATUS, ("diff", "--numstat", "HEAD~5")])
    bench.both(write, ["a.txt"], "more\n")
    bench.compare("save", ["save"], [ADD, COMMIT])
    bench.compare("rollback", ["rollback", "first", "--yes"], [STATUS, BACK, CLEAN])
    bench.compare("undo", ["undo"], [STATUS, FORTH])
    bench.compare("fork", ["fork", "latest", "f"], [bench.worktree("f2", place / "f2")])
    bench.compare("apply --dry-run", ["apply", "--dry-run"], [])
    bench.compare("remove", ["remove", "--yes"], [], cwd=bench.sandbox)
    bench.compare("restore", ["restore", "p"], [], cwd=bench.repo)
    bench.compare("prune to 50", ["checkpoint", "prune", "--max", "50", "--yes"], [])


def database_of(bench):
    return Path(bench.plan("db", "path").decode().strip())


def store_of(bench):
    return database_of(bench).parent / "store.git"


CASES = {
    "edited-25": (edited, 25_000),
    "edited": (edited, 100_000),
    "new": (untracked, 100_000),
    "deleted": (deleted, 100_000),
    "many": (many, 100_000),
    "ignored-one": (ignored_in_one, 200_000),
    "ignored-spread": (ignored_spread, 200_000),
    "ignored-top": (ignored_at_top, 20_000),
    "large": (large, 50_000, 2 << 30),
    "plans": (plans, 5_000),
    "checkpoints": (checkpoints, 10_000),
}
_SMALLER = 50


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="everything 50 times smaller")
    parser.add_argument("--only", action="append", choices=CASES, help="this case; repeatable")
    parser.add_argument("--place", type=Path, help="where to work; a temporary directory else")
    options = parser.parse_args()
    print(f"{'size':<26} {'command':<30} {'ours':>10} {'git':>10} {'ratio':>7} {'memory':>11}")
    failed = False
    for name in options.only or CASES:
        case, *sizes = CASES[name]
        place = Path(tempfile.mkdtemp(prefix="heavy-", dir=options.place))
        try:
            case(place, *(size // _SMALLER if options.small else size for size in sizes))
        except Failed as error:
            failed = True
            print(f"{name}: FAILED: {error}", flush=True)
        finally:
            shutil.rmtree(place)
    sys.exit(failed)


if __name__ == "__main__":
    main()
