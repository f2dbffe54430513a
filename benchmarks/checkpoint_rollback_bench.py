"""Checkpoints and rollbacks as ratios against plain git, measured in the same tree and run.

Machines are noisy and differ, so that a ratio says more than a time: 2 means twice as long as git.
"""

import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from backtrail.bootstrap import open_services

from .checkpoint_ratios import (
    Stopwatch,
    add_and_commit,
    change,
    git,
    make_repository,
    reset_and_clean,
    shadow_commit,
    timed,
)

SIZES = [1_000, 10_000]
ROUNDS = 3
CHANGED = 10


def ratio(ours, theirs):
    return statistics.median(ours) / statistics.median(theirs)


class Checkpoints:
    """A plan and a worktree of plain git beside it, both of the same files."""

    params = SIZES
    param_names = ["files"]
    unit = "times git"
    timeout = 600

    def setup_cache(self):
        """Make the repositories, in the directory that asv gives and removes."""
        for files in SIZES:
            work = Path.cwd() / str(files)
            make_repository(work / "repo", files)
            git("worktree", "add", "-q", "-b", "twin", str(work / "twin"), cwd=work / "repo")
            services = open_services(work / "repo", {"HOME": str(work)}, command_line="bench")
            services.plans.create("plan")
            services.close()
        time.sleep(2.1)  # so that no index holds entries as young as itself
        for files in SIZES:
            self.setup(files)
            self.checkpoints.create_checkpoint(self.plan.plan_id)
            git("add", "-A", cwd=self.twin)
            self.teardown(files)

    def setup(self, files):
        self.work = Path.cwd() / str(files)
        self.twin = self.work / "twin"
        self.watch = Stopwatch()
        self.services = open_services(
            self.work / "repo",
            {"HOME": str(self.work)},
            command_line="bench",
            failpoints=self.watch,
        )
        self.checkpoints = self.services.checkpoints
        self.plan = self.services.plans.resolve("plan")

    def teardown(self, files):
        self.services.close()

    def change_both(self, files):
        stamp = time.time_ns()
        change(self.plan.sandbox.path, files, CHANGED, stamp)
        change(self.twin, files, CHANGED, stamp)

    def save_both(self, files):
        """Some files change, and both sides record that; how long each took."""
        self.change_both(files)
        ours = timed(self.checkpoints.create_checkpoint, self.plan.plan_id)
        return ours, timed(add_and_commit, self.twin)

    def rounds(self, files, one_round):
        pairs = [one_round(files) for _ in range(ROUNDS)]
        return ratio([ours for ours, _ in pairs], [theirs for _, theirs in pairs])

    def track_create_first(self, files):
        """The first checkpoint of a new plan, against a shadow repository's first commit."""
        plan = self.services.plans.create(f"first-{time.time_ns()}").plan
        times = self.watch.times
        ours = (times["plan.initial_made"] - times["plan.checked_out"]) * 1000
        theirs = timed(shadow_commit, self.work, plan.sandbox.path)
        shutil.rmtree(self.work / "shadow.git")
        return ours / theirs

    def track_create_later(self, files):
        """Ten files changed, against `git add -A` and `git commit`."""
        return self.rounds(files, self.save_both)

    def track_create_unchanged(self, files):
        """Nothing changed, against `git status`."""

        def one_round(_files):
            ours = timed(self.checkpoints.create_checkpoint, self.plan.plan_id)
            return ours, timed(git, "status", cwd=self.twin)

        return self.rounds(files, one_round)

    def track_rollback(self, files):
        """Ten files come back, against `git reset --hard` and `git clean`."""
        return self.rounds(files, self.roll_back_both)

    def roll_back_both(self, files):
        before = self.checkpoints.get_checkpoint(self.plan.plan_id, "latest").checkpoint_id
        self.save_both(files)
        roll_back = self.checkpoints.rollback_to_checkpoint
        return timed(roll_back, self.plan.plan_id, before), timed(reset_and_clean, self.twin)

    def track_undo(self, files):
        """The rollback is taken back, against `git reset --hard` to where one was."""

        def one_round(files):
            self.roll_back_both(files)
            ours = timed(self.checkpoints.undo, self.plan.plan_id)
            return ours, timed(reset_and_clean, self.twin, "ORIG_HEAD")

        return self.rounds(files, one_round)

    def track_list(self, files):
        """All checkpoints, against `git log`."""

        def one_round(_files):
            ours = timed(self.checkpoints.list_checkpoints, self.plan.plan_id, include_all=True)
            return ours, timed(git, "log", "--oneline", cwd=self.twin)

        return self.rounds(files, one_round)


class StartUp:
    """What a command costs before it does anything."""

    unit = "times git"
    timeout = 600

    def track_version(self):
        """`plan --version`, against `git --version`."""
        program = "import sys; from backtrail.cli.main import main; main(['--version'])"
        plan = [sys.executable, "-c", program]

        def run(command):
            subprocess.run(command, check=True, capture_output=True)

        rounds = range(ROUNDS)
        return ratio(
            [timed(run, plan) for _ in rounds], [timed(run, ["git", "--version"]) for _ in rounds]
        )
