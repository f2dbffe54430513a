"""Runs the suites side by side, one Robot process for each, and puts their results together.

As: run_parallel.py RESULTS [OPTION | SUITE]… What failed is told last, just before the closing
line, and added to the file that BACKTRAIL_FAILURES names.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from io import StringIO
from pathlib import Path
from typing import Any

from robot.api import ExecutionResult, ResultVisitor
from robot.errors import DataError
from robot.rebot import rebot

SUITES = Path(__file__).resolve().parent
# What takes longest is started first, so that it is not waited for alone at the end.
LONGEST = ("scripts", "terminal", "safety")
MEMORY, ROOM = Path("/dev/shm"), 256 * 1024**2
QUIET = ("--report=NONE", "--log=NONE", "--console=dotted", "--consolecolors=off")


class Count(ResultVisitor):
    """Counts tests, and keeps the names of those that failed with what they said."""

    def __init__(self) -> None:
        self.passed = 0
        self.failing: list[str] = []

    def visit_test(self, test: Any) -> None:  # noqa: ANN401 - its own type differs by version
        if test.failed:
            self.failing.append(f"{test.full_name}: {test.message}")
        else:
            self.passed += test.passed


def main(results: Path, arguments: list[str]) -> int:
    chosen = [Path(a).resolve() for a in arguments if a.endswith(".robot")]
    options = [a for a in arguments if not a.endswith(".robot")]
    # As from a terminal: nohup, or a shell's `&`, would have the suites ignore these.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    suites = sorted(chosen or SUITES.glob("*.robot"), key=_turn)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        running = [pool.submit(run, suite, results, options) for suite in suites]
        for future in as_completed(running):
            print(future.result(), flush=True)
    through = [suite for suite in suites if _is_whole(_output(results, suite))]
    outputs = [str(_output(results, suite)) for suite in through]
    broken = [f"{suite.name} did not run to its end" for suite in suites if suite not in through]
    if outputs:
        rebot(*outputs, outputdir=str(results), name="Backtrail", stdout=StringIO())
    return _tell(outputs, broken)


def _turn(path: Path) -> int:
    return LONGEST.index(path.stem) if path.stem in LONGEST else len(LONGEST)


def _output(results: Path, suite: Path) -> Path:
    return results / f"{suite.stem}.xml"


def _is_whole(output: Path) -> bool:
    """Whether a suite's process wrote its results to the end; one that was killed did not."""
    try:
        ExecutionResult(str(output))
    except DataError:
        return False
    return True


def run(suite: Path, results: Path, options: list[str]) -> str:
    output = f"--output={_output(results, suite)}"
    done = subprocess.run(
        [sys.executable, "-m", "robot", output, *QUIET, *options, str(suite)],
        env=_environment(),
        cwd=SUITES.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{suite.name}\n{done.stdout}{done.stderr}"


def _environment() -> dict[str, str]:
    """Memory is the better place for thousands of small files, where there is room."""
    env = dict(os.environ)
    if "TMPDIR" not in env and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        env["TMPDIR"] = str(MEMORY)
    return env


def _tell(outputs: list[str], broken: list[str]) -> int:
    count = Count()
    if outputs:
        ExecutionResult(*outputs).visit(count)
    failing = [*count.failing, *broken]
    text = "".join(f"  {name}\n" for name in failing)
    if failing:
        print(f"Failing tests:\n{text}")
    if failing and (place := os.environ.get("BACKTRAIL_FAILURES")):
        with Path(place).open("a") as file:
            file.write(text)
    print(f"{count.passed} passed, {len(failing)} failed")
    return 1 if failing or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
