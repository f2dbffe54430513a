"""How the time of a retention decision grows: 10,000 checkpoints against 1,000.

Run it by hand: python benchmarks/retention_ratio.py [--rounds N]
The goal is a ratio of 15 at most. Half of the checkpoints are superseded, and there is an epoch for
every ten of them, each branching off the one before.
"""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime, timedelta

from backtrail.domain.checkpoint import CheckpointType
from backtrail.domain.ids import CheckpointId, PlanId
from backtrail.domain.retention import (
    CheckpointRetentionPolicy,
    KeepReason,
    Protected,
    RetentionRow,
    decide,
)
from backtrail.domain.timeline import Epoch, brought_back

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TYPES = tuple(CheckpointType)
GOAL = 15


def checkpoints(count):
    return [
        RetentionRow(
            checkpoint_id=CheckpointId(f"{number:026}"),
            seq=number,
            position=number,
            epoch=1 + number // 10,
            checkpoint_type=TYPES[number % len(TYPES)],
            sandbox_ref=None,
            live=number % 2 == 0,
            pinned=number % 97 == 0,
            verified_green=number % 5 == 0,
            decision_id=None,
            created_at=NOW - timedelta(minutes=count - number),
            size_bytes=number % 1000,
            label=None,
            tree=f"{number % (count // 3)}",
        )
        for number in range(1, count + 1)
    ]


def epochs(count):
    plan = PlanId("plan")
    numbers = range(2, count // 10 + 2)
    return {1: Epoch(plan, 1, None, None, None)} | {
        number: Epoch(plan, number, number - 1, number * 10 - 11, None) for number in numbers
    }


def judge(rows, history):
    """What pruning computes: what the ten ways back would revive, and then the verdicts."""
    ways = rows[-10:]
    protected = Protected(
        needed=dict.fromkeys((row.checkpoint_id for row in ways), KeepReason.UNDO_REDO),
        revivable=brought_back(((row.epoch, row.position) for row in ways), history),
    )
    policy = CheckpointRetentionPolicy(max_age=timedelta(days=30), max_bytes=10**6)
    return decide(rows, policy, protected, NOW)


def best_time(count, rounds):
    rows, history = checkpoints(count), epochs(count)
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        decision = judge(rows, history)
        times.append(time.perf_counter() - began)
        assert len(decision.kept) + len(decision.removed) == count
    return min(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    few, many = best_time(1_000, rounds), best_time(10_000, rounds)
    print(f"1,000 checkpoints: {few * 1000:.1f} ms, 10,000 checkpoints: {many * 1000:.1f} ms")
    print(f"ratio {many / few:.1f} (goal: at most {GOAL})")


if __name__ == "__main__":
    main()
