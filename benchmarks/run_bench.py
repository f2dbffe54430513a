"""What `plan run -- true` costs, beside its parts: milliseconds, all of one run and one machine.

The whole is a process of its own; `start` is that process without any work, `checkpoint` and
`protocol` are measured inside one process, and `command` is the bare command.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from backtrail.bootstrap import open_services

from .checkpoint_ratios import make_repository, timed

FILES = 1_000
ROUNDS = 5
PLAN = [sys.executable, "-c", "import sys; from backtrail.cli.main import main; main(sys.argv[1:])"]


class Runs:
    """Each part of a protected run of a command that does nothing."""

    params = ["whole", "start", "checkpoint", "protocol", "command"]
    param_names = ["part"]
    unit = "ms"
    timeout = 300

    def setup_cache(self):
        """Make a repository with a plan, in the directory that asv gives and removes."""
        work = Path.cwd()
        make_repository(work / "repo", FILES)
        services = open_services(work / "repo", {"HOME": str(work)}, command_line="bench")
        services.plans.create("plan")
        services.close()
        time.sleep(2.1)  # so that no index holds entries as young as itself

    def setup(self, part):
        self.work = Path.cwd()
        environ = {**os.environ, "HOME": str(self.work)}
        self.services = open_services(self.work / "repo", environ, command_line="bench")
        self.plan = self.services.plans.resolve("plan").plan_id
        self.services.checkpoints.create_checkpoint(self.plan)

    def teardown(self, part):
        self.services.close()

    def track_run(self, part):
        """The median of some rounds."""
        services, plan = self.services, self.plan
        work = {
            "whole": lambda: self.program("run", "plan", "--", "true"),
            "start": lambda: self.program("--version"),
            "checkpoint": lambda: services.checkpoints.create_checkpoint(plan),
            # Admission, checkpoint, command and verdict; the rest of the whole is start-up.
            "protocol": lambda: services.runs.execute(plan, ["true"]),
            "command": lambda: subprocess.run(["true"], check=True),
        }[part]
        return statistics.median(timed(work) for _ in range(ROUNDS))

    def program(self, *words):
        subprocess.run([*PLAN, *words], cwd=self.work / "repo", check=True, capture_output=True)
