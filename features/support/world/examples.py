"""How far scenarios with random input search.

By default a little, and the same each time: whoever changes one thing is not told of another.
With BACKTRAIL_EXAMPLES that many examples, other ones each time, and a failure is made small.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings


def thorough() -> bool:
    """Whether a long search was asked for, which takes many minutes."""
    return bool(os.environ.get("BACKTRAIL_EXAMPLES"))


_PATIENT = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)


def search(count: int, *, each: int = 1, steps: int = 50) -> settings:
    """Settings for so many examples, each of which counts for several; no machine is too slow."""
    wanted = int(os.environ["BACKTRAIL_EXAMPLES"]) if thorough() else count
    return settings(
        max_examples=max(1, wanted // each),
        stateful_step_count=steps,
        deadline=None,
        database=None,
        print_blob=True,
        derandomize=not thorough(),
        suppress_health_check=_PATIENT,
        phases=list(Phase) if thorough() else [Phase.explicit, Phase.generate],
    )


def rounds(count: int) -> int:
    """How often to try what depends on luck."""
    return int(os.environ["BACKTRAIL_EXAMPLES"]) if thorough() else count
