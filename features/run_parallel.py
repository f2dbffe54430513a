"""Runs the features side by side: everything is loaded once, and a fork runs each feature file.

Arguments that name feature files choose them; all others go to behave. What failed is told last,
just before the closing line, and added to the file that BACKTRAIL_FAILURES names.
With BACKTRAIL_TEST_DATABASE=postgresql, what is marked @storage is run on a PostgreSQL server.
"""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, NoReturn

FEATURES = Path(__file__).resolve().parent
ON_POSTGRESQL = os.environ.get("BACKTRAIL_TEST_DATABASE") == "postgresql"
# How long each took the last time: what takes longest is started first, so that it is not waited
# for alone at the end.
SECONDS = FEATURES / (".seconds-postgresql.json" if ON_POSTGRESQL else ".seconds.json")
# A guess for what was never run: a scenario takes a second, and what is tagged as not to be
# measured repeats hundreds of times what others do once.
SCENARIO = re.compile(r"^ *(?:Scenario|\|)", re.MULTILINE)
REPEATED, REPEATED_SECONDS = "@unmeasured", 60
TAGS = "@storage" if ON_POSTGRESQL else "not @postgresql"
# Thousands of small files are written and synced: memory is the better place where there is room.
MEMORY, ROOM = Path("/dev/shm"), 1024**3
# Not all of `support`: behave forgets what was registered with it before it begins.
HEAVY = ("behave.__main__", "support.crashes.crashes", "support.checkpoints.models")
WARM = (
    "support.storage.statements",
    "support.storage.rows",
    "support.program.tree",
    *(["support.storage.postgresql"] if ON_POSTGRESQL else []),
)
COUNTS = re.compile(r"^(\d+) scenarios? passed, (\d+) failed(?:, (\d+) error)?", re.MULTILINE)
FAILING = re.compile(r"^ +(\S+\.feature:\d+ .*)$", re.MULTILINE)
# What the formatter puts between two lines of dashes, up to which it prints dots.
REASON = re.compile(r"^-{70,}\n((?:FAILURE|ERROR) in .*?)^-{70,}$", re.MULTILINE | re.DOTALL)
REASON_LENGTH = 5000


@dataclass(frozen=True)
class Result:
    """What came of one feature file."""

    name: str
    code: int
    output: str
    seconds: float
    processor_seconds: float

    @property
    def passed(self) -> int:
        found = COUNTS.search(self.output)
        return int(found[1]) if found else 0

    @property
    def failed(self) -> int:
        found = COUNTS.search(self.output)
        counted = int(found[2]) + int(found[3] or 0) if found else 0
        return counted or (1 if self.code else 0)

    @property
    def reasons(self) -> list[str]:
        """What went wrong at each step that failed; all there is, if nothing was understood."""
        return REASON.findall(self.output) or [self.output]

    @property
    def failing(self) -> list[str]:
        return FAILING.findall(self.output) or [self.name]


def main(arguments: list[str]) -> int:
    chosen = [Path(a).resolve() for a in arguments if a.endswith(".feature")]
    options = [a for a in arguments if not a.endswith(".feature")]
    if "TMPDIR" not in os.environ and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ["TMPDIR"] = str(MEMORY)
    listen_to_signals()
    load_everything()
    files = [p for p in chosen or FEATURES.glob("*.feature") if _has_a_turn(p)]
    took = _took_last_time()
    files.sort(key=lambda p: took.get(p.stem, _guessed_seconds(p)), reverse=True)
    results = run_all(files, options)
    if not options:  # which may leave scenarios out
        _save_seconds(took, results)
    failures = [result for result in results if result.failed]
    if failures:
        _tell(failures)
    passed = sum(result.passed for result in results)
    print(f"{passed} passed, {sum(result.failed for result in results)} failed")
    return 1 if failures or not passed else 0


def _has_a_turn(path: Path) -> bool:
    return not ON_POSTGRESQL or TAGS in path.read_text()


def _took_last_time() -> dict[str, float]:
    try:
        saved = json.loads(SECONDS.read_text())
        return {str(name): float(seconds) for name, seconds in saved.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _guessed_seconds(path: Path) -> float:
    text = path.read_text()
    return len(SCENARIO.findall(text)) + REPEATED_SECONDS * text.count(REPEATED)


def _save_seconds(before: dict[str, float], results: list[Result]) -> None:
    now = {Path(result.name).stem: round(result.seconds, 1) for result in results}
    with suppress(OSError):
        SECONDS.write_text(json.dumps(before | now, indent=1, sort_keys=True))


def _tell(failures: list[Result]) -> None:
    """Why each scenario failed, and then all their names."""
    reasons = [f"{r.name}: {text[:REASON_LENGTH]}\n" for r in failures for text in r.reasons]
    names = [f"  {name}\n" for result in failures for name in result.failing]
    text = "\n".join([*reasons, "Failing scenarios:\n" + "".join(names)])
    print(f"\n{text}")
    if place := os.environ.get("BACKTRAIL_FAILURES"):
        with Path(place).open("a") as file:
            file.write(text)


def listen_to_signals() -> None:
    """As from a terminal: nohup, or a shell's `&`, would have the forks ignore some of them."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def load_everything() -> None:
    """Import what the forks would import each for itself, which takes seconds."""
    sys.path.insert(0, str(FEATURES))
    for module in HEAVY:
        import_module(module)
    for module in WARM:
        import_module(module).warm_up()
    gc.freeze()


def run_all(files: list[Path], options: list[str]) -> list[Result]:
    """Run as many at once as there are processors; each is told when it has ended."""
    running: dict[int, tuple[Path, BinaryIO, float]] = {}
    results: list[Result] = []
    waiting = list(files)
    while waiting or running:
        while waiting and len(running) < len(os.sched_getaffinity(0)):
            path = waiting.pop(0)
            output = tempfile.TemporaryFile()  # noqa: SIM115 - read when the fork has ended
            running[_forked(path, options, output)] = path, output, time.monotonic()
        child, status, used = os.wait4(-1, 0)
        path, output, began = running.pop(child)
        code, took = os.waitstatus_to_exitcode(status), time.monotonic() - began
        results.append(Result(path.name, code, _text(output), took, used.ru_utime + used.ru_stime))
        print(_line(results[-1]), flush=True)
    return results


def _line(result: Result) -> str:
    took = re.search(r"^Took (.*)$", result.output, re.MULTILINE)
    counts = f"{result.passed} passed, {result.failed} failed"
    used = f"{result.processor_seconds:.0f} s of a processor"
    return f"{result.name}: {counts} in {took[1] if took else 'no time'}, {used}"


def _forked(path: Path, options: list[str], output: BinaryIO) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _run(path, options, output)
    return child


def _run(path: Path, options: list[str], output: BinaryIO) -> NoReturn:
    os.dup2(output.fileno(), 1)
    os.dup2(output.fileno(), 2)
    os.chdir(FEATURES.parent)
    # A scenario for a defect that is known and open stays in sight without hiding new ones.
    flags = ["--format=progress3", "--tags=not @open_defect", f"--tags={TAGS}", *options]
    sys.exit(import_module("behave.__main__").main([*flags, str(path)]))


def _text(file: BinaryIO) -> str:
    file.seek(0)
    text = file.read().decode("utf-8", "backslashreplace")
    file.close()
    return text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
