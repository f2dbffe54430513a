"""Checkpoint and rollback times as ratios against plain git, in the same tree and run.

Run it by hand: python benchmarks/checkpoint_ratios.py [--files N] [--rounds N]
Machines are noisy, so every figure stands beside a baseline measured in the same run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from backtrail.bootstrap import open_services


class Stopwatch:
    """Notes when each failpoint is passed."""

    def __init__(self):
        self.times = {}

    def reach(self, name):
        self.times[name] = time.perf_counter()


def timed(work, *arguments, **options):
    began = time.perf_counter()
    work(*arguments, **options)
    return (time.perf_counter() - began) * 1000


def git(*arguments, cwd, **variables):
    identity = {
        f"GIT_{who}_{what}": "bench@example.com"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    env = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, **variables}
    # Nothing packs in the background, while something is measured or the repository is deleted.
    command = ["git", "-c", "gc.auto=0", *arguments]
    subprocess.run(command, cwd=cwd, env=env, check=True, capture_output=True)


def make_repository(root, files):
    root.mkdir(parents=True)
    git("init", "-q", cwd=root)
    for number in range(files):
        path = root / f"d{number % 100:02}" / f"s{number % 7}" / f"file{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"file {number}\n" * 20)
    git("add", "-A", cwd=root)
    git("commit", "-qm", "base", cwd=root)
    # Packed, as a repository in use is.
    git("gc", "--quiet", cwd=root)


def change(sandbox, files, count, stamp):
    for number in range(0, files, max(1, files // count)):
        path = sandbox / f"d{number % 100:02}" / f"s{number % 7}" / f"file{number}.txt"
        path.write_text(f"changed {stamp} {number}\n" * 20)


def shadow_commit(work, sandbox):
    """What a tool with a shadow repository does at first use."""
    where = {"GIT_DIR": str(work / "shadow.git"), "GIT_WORK_TREE": str(sandbox)}
    git("init", "-q", cwd=sandbox, **where)
    git("add", "-A", cwd=sandbox, **where)
    git("commit", "-qm", "shadow", cwd=sandbox, **where)


def compare(name, ours, baseline_name, baseline):
    a, b = statistics.median(ours), statistics.median(baseline)
    print(f"{name}: {a:.0f} ms, {baseline_name}: {b:.0f} ms, ratio {a / b:.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="bench "))
    try:
        measure(work, options.files, options.rounds)
    finally:
        shutil.rmtree(work)


def measure(work, files, rounds):
    make_repository(work / "repo", files)
    watch = Stopwatch()
    services = open_services(
        work / "repo", {"HOME": str(work)}, command_line="bench", failpoints=watch
    )
    plan = measure_first(work, services, watch, files)
    measure_later(work, services.checkpoints, plan, files, rounds)
    services.close()


def measure_first(work, services, watch, files):
    ours, shadow = [], []
    plan = None
    for number in range(3):
        plan = services.plans.create(f"p{number}").plan
        ours.append((watch.times["plan.initial_made"] - watch.times["plan.checked_out"]) * 1000)
        shadow.append(timed(shadow_commit, work, plan.sandbox.path))
        shutil.rmtree(work / "shadow.git")
    compare(f"first checkpoint, {files} files", ours, "shadow init+add+commit", shadow)
    return plan


def measure_later(work, checkpoints, plan, files, rounds):
    twin = work / "twin"
    git("worktree", "add", "-q", "-b", "twin", str(twin), cwd=work / "repo")
    time.sleep(2.1)  # from here on neither index holds entries as young as itself
    checkpoints.create_checkpoint(plan.plan_id)
    git("add", "-A", cwd=twin)
    times = {name: [] for name in ("create", "commit", "same", "status", "rollback", "reset")}
    for stamp in range(rounds):
        time.sleep(1.1)
        before = checkpoints.get_checkpoint(plan.plan_id, "latest").checkpoint_id
        change(plan.sandbox.path, files, 10, stamp)
        change(twin, files, 10, stamp)
        times["create"].append(timed(checkpoints.create_checkpoint, plan.plan_id))
        times["commit"].append(timed(add_and_commit, twin))
        times["same"].append(timed(checkpoints.create_checkpoint, plan.plan_id))
        times["status"].append(timed(git, "status", cwd=twin))
        times["rollback"].append(timed(checkpoints.rollback_to_checkpoint, plan.plan_id, before))
        times["reset"].append(timed(reset_and_clean, twin))
    compare("checkpoint, 10 changed", times["create"], "git add -A + commit", times["commit"])
    compare("checkpoint, nothing changed", times["same"], "git status", times["status"])
    compare("rollback, 10 files", times["rollback"], "git reset --hard + clean", times["reset"])


def add_and_commit(tree):
    git("add", "-A", cwd=tree)
    git("commit", "-qm", "x", cwd=tree)


def reset_and_clean(tree, commit="HEAD~1"):
    git("reset", "--hard", commit, cwd=tree)
    git("clean", "-fd", cwd=tree)


if __name__ == "__main__":
    main()
