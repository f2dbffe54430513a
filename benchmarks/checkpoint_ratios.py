"""Checkpoint times as ratios against plain git in the same tree and run: python benchmarks/checkpoint_ratios.py

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
from backtrail.domain.checkpoint import CheckpointRequest


class Stopwatch:
    """Notes when each failpoint is passed."""

    def __init__(self):
        self.times = {}

    def reach(self, name):
        self.times[name] = time.perf_counter()


def timed(work):
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def git(*arguments, cwd, **variables):
    identity = {
        f"GIT_{who}_{what}": "bench@example.com"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    env = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, **variables}
    subprocess.run(["git", *arguments], cwd=cwd, env=env, check=True, capture_output=True)


def make_repository(root, files):
    root.mkdir(parents=True)
    git("init", "-q", cwd=root)
    for number in range(files):
        path = root / f"d{number % 100:02}" / f"s{number % 7}" / f"file{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"file {number}\n" * 20)
    git("add", "-A", cwd=root)
    git("commit", "-qm", "base", cwd=root)


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
    environ = {"HOME": str(work)}
    watch = Stopwatch()
    services = open_services(work / "repo", environ, command_line="bench", failpoints=watch)
    firsts, shadows = [], []
    for number in range(3):
        plan = services.plans.create(f"p{number}").plan
        firsts.append((watch.times["plan.initial_made"] - watch.times["plan.checked_out"]) * 1000)
        shadows.append(timed(lambda p=plan: shadow_commit(work, p.sandbox.path)))
        shutil.rmtree(work / "shadow.git")
    compare(f"first checkpoint, {files} files", firsts, "shadow init+add+commit", shadows)
    sandbox, twin = plan.sandbox.path, work / "twin"
    git("worktree", "add", "-q", "-b", "twin", str(twin), cwd=work / "repo")
    time.sleep(2.1)
    services.checkpoints.create_checkpoint(plan.plan_id)
    git("add", "-A", cwd=twin)
    creates, commits, unchanged, statuses, rollbacks, resets = [], [], [], [], [], []
    for stamp in range(rounds):
        time.sleep(1.1)
        before = services.checkpoints.get_checkpoint(plan.plan_id, "latest")
        change(sandbox, files, 10, stamp)
        change(twin, files, 10, stamp)
        request = CheckpointRequest(reason=f"round {stamp}")
        creates.append(timed(lambda r=request: services.checkpoints.create_checkpoint(plan.plan_id, r)))
        commits.append(timed(lambda: (git("add", "-A", cwd=twin), git("commit", "-qm", "x", cwd=twin))))
        unchanged.append(timed(lambda: services.checkpoints.create_checkpoint(plan.plan_id)))
        statuses.append(timed(lambda: git("status", cwd=twin)))
        rollbacks.append(
            timed(
                lambda b=before: services.checkpoints.rollback_to_checkpoint(
                    plan.plan_id, b.checkpoint_id
                )
            )
        )
        resets.append(
            timed(lambda: (git("reset", "--hard", "HEAD~1", cwd=twin), git("clean", "-fd", cwd=twin)))
        )
    compare("later checkpoint, 10 changed", creates, "git add -A + commit", commits)
    compare("later checkpoint, nothing changed", unchanged, "git status", statuses)
    compare("rollback, 10 files", rollbacks, "git reset --hard + clean -fd", resets)


if __name__ == "__main__":
    main()
