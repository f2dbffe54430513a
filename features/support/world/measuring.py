"""Coverage, where it is being measured: scenarios that repeat what others do need not pay for it.

Tracing doubles the time of a command. A scenario with the tag `@unmeasured` runs hundreds of them
and would show nothing that the other scenarios have not shown before.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_START = "COVERAGE_PROCESS_START"
_paused: list[tuple[Any, str]] = []


def begin(*, wanted: bool) -> None:
    """Measure a scenario, or nothing at all: neither in this process nor in those it starts."""
    coverage = sys.modules.get("coverage")
    current = coverage.Coverage.current() if coverage else None
    if current is None:
        return
    if not wanted:
        current.stop()
        _paused.append((current, os.environ.pop(_START, "")))
    # What is saved here is not saved once more by each fork.
    current.save()


def end() -> None:
    """Measure again."""
    while _paused:
        current, start = _paused.pop()
        os.environ[_START] = start
        current.start()
