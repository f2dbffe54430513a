"""What exact fidelity costs: this version against an older one and plain git, in one run.

Run it by hand: python -m benchmarks.fidelity_cost [REVISION] [--files N] [--rounds N]
The older version is checked out of this repository's history, by default the last one that captured
files alone, without permission bits, empty directories and nested repositories. Each contender has
a copy of the repository, and with it a store and a database of its own; each round lets every one
do the same work once, in an order that changes. The goal is a factor of 1.3 at most.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .checkpoint_ratios import add_and_commit, change, git, make_repository, reset_and_clean, timed

BEFORE_FIDELITY = "82fe02e"
CHANGED = 10
GOAL = 1.3
HERE = Path(__file__).resolve().parents[1]
AGED = 2.1
"""Seconds after which no index holds entries as young as itself."""
WORK = {
    "create": "git add -A + commit",
    "same": "git status",
    "rollback": "git reset --hard + clean -fd",
}
TITLES = {
    "create": "checkpoint, 10 changed files",
    "same": "checkpoint, nothing changed",
    "rollback": "rollback of 10 files, with safety checkpoint and proof",
}


class Version:
    """One version of Backtrail, in a process of its own."""

    def __init__(self, name, source, repository):
        self.name = name
        command = [sys.executable, "-m", "benchmarks.fidelity_cost", "--serve", str(repository)]
        env = {**os.environ, "PYTHONPATH": str(source / "src"), "HOME": str(repository.parent)}
        self._process = subprocess.Popen(
            command, cwd=HERE, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._orders, self._answers = self._process.stdin, self._process.stdout
        used, sandbox = Path(self._answer()), self._answer()
        if not used.is_relative_to(source):
            raise SystemExit(f"{name} was to run {source}, and runs {used}")
        self.tree = Path(sandbox)

    def do(self, work):
        """Milliseconds of the work alone, as that process measured them."""
        self._orders.write(f"{work}\n")
        self._orders.flush()
        return float(self._answer())

    def close(self):
        self._orders.close()
        self._process.wait()

    def _answer(self):
        line = self._answers.readline()
        if not line:
            raise SystemExit(f"{self.name} ended before it had answered")
        return line.rstrip("\n")


class PlainGit:
    """Plain git, in a worktree beside the repository as sandboxes are."""

    name = "git"

    def __init__(self, repository):
        self.tree = repository.parent / "twin"
        git("worktree", "add", "-q", "-b", "twin", str(self.tree), cwd=repository)

    def do(self, work):
        match work:
            case "create":
                return timed(add_and_commit, self.tree)
            case "same":
                return timed(git, "status", cwd=self.tree)
            case _:
                return timed(reset_and_clean, self.tree)

    def close(self):
        """Nothing is left running."""


def serve(repository):
    """The process of one version: works on demand, and says how long it took."""
    import backtrail
    from backtrail.bootstrap import open_services

    services = open_services(repository, {"HOME": str(repository.parent)}, command_line="bench")
    plan = services.plans.create("p").plan
    print(backtrail.__file__, plan.sandbox.path, sep="\n", flush=True)
    checkpoints, before = services.checkpoints, "latest"
    for line in sys.stdin:
        work = line.strip()
        if work == "create":
            before = checkpoints.get_checkpoint(plan.plan_id, "latest").checkpoint_id
        if work == "rollback":
            spent = timed(checkpoints.rollback_to_checkpoint, plan.plan_id, before)
        else:
            spent = timed(checkpoints.create_checkpoint, plan.plan_id)
        print(spent, flush=True)
    services.close()


def copies(work, files):
    """A repository of its own for each contender, all alike."""
    make_repository(work / "master" / "repo", files)
    for name in ("now", "before", "git"):
        shutil.copytree(work / "master" / "repo", work / name / "repo")
    shutil.rmtree(work / "master")


def older_source(work, revision):
    source = work / "source"
    source.mkdir()
    tar = subprocess.run(
        ["git", "archive", revision, "src", "migrations"], cwd=HERE, check=True, capture_output=True
    ).stdout
    subprocess.run(["tar", "-x"], cwd=source, input=tar, check=True)
    return source


def measure(contenders, files, rounds):
    time.sleep(AGED)
    for contender in contenders:
        contender.do("create" if contender.name != "git" else "same")
    times = {(c.name, work): [] for c in contenders for work in WORK}
    for stamp in range(rounds):
        time.sleep(AGED)
        for contender in contenders:
            change(contender.tree, files, CHANGED, stamp)
        for work in WORK:
            first = stamp % len(contenders)
            for contender in (*contenders[first:], *contenders[:first]):
                times[contender.name, work].append(contender.do(work))
    return times


def report(times, revision):
    for work, plain in WORK.items():
        print(TITLES[work])
        for kind, of in (("median", statistics.median), ("minimum", min)):
            now, before, theirs = (of(times[name, work]) for name in ("now", "before", "git"))
            print(
                f"  {kind}: now {now:.0f} ms ({now / theirs:.2f} times {plain}), {revision} "
                f"{before:.0f} ms ({before / theirs:.2f} times), git {theirs:.0f} ms; "
                f"now/{revision} {now / before:.2f}, goal {GOAL}"
            )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("revision", nargs="?", default=BEFORE_FIDELITY)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    work = Path(tempfile.mkdtemp(prefix="bench "))
    contenders = []
    try:
        copies(work, options.files)
        source = older_source(work, options.revision)
        contenders.append(Version("now", HERE, work / "now" / "repo"))
        contenders.append(Version("before", source, work / "before" / "repo"))
        contenders.append(PlainGit(work / "git" / "repo"))
        print(f"{options.files} files, {options.rounds} rounds")
        report(measure(contenders, options.files, options.rounds), options.revision)
    finally:
        for contender in contenders:
            contender.close()
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
