"""Runs the features side by side, one behave process per feature file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

FEATURES = Path(__file__).parent
COUNTS = re.compile(r"^(\d+) scenarios? passed, (\d+) failed(?:, (\d+) error)?", re.MULTILINE)
LONGEST = "crash_recovery"
# Thousands of small files are written and synced: memory is the better place where there is room.
MEMORY, ROOM = Path("/dev/shm"), 2 * 1024**3


def main() -> int:
    # What takes longest is started first, so that it is not waited for alone at the end.
    files = sorted(FEATURES.glob("*.feature"), key=lambda path: path.stem != LONGEST)
    passed = failed = 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        running = [pool.submit(run, path) for path in files]
        for future in as_completed(running):
            code, output = future.result()
            print(output, flush=True)
            good, bad = counted(output)
            passed += good
            failed += bad or (1 if code else 0)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def run(path: Path) -> tuple[int, str]:
    # A scenario for a defect that is known and open stays in sight without hiding new ones.
    flags = ["--format=progress", "--tags=not @open_defect"]
    command = [sys.executable, "-m", "behave", *flags, *sys.argv[1:], str(path)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=False, cwd=FEATURES.parent
    )
    return done.returncode, f"{path.name}\n{done.stdout}{done.stderr}"


def environment() -> dict[str, str]:
    env = dict(os.environ)
    if "TMPDIR" not in env and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        env["TMPDIR"] = str(MEMORY)
    return env


def counted(output: str) -> tuple[int, int]:
    found = COUNTS.search(output)
    return (int(found[1]), int(found[2]) + int(found[3] or 0)) if found else (0, 0)


if __name__ == "__main__":
    sys.exit(main())
