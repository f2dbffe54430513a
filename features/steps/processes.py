"""Steps about several processes at once."""

import os
import signal
import subprocess
import sys
import time

from behave import given, then, when

from support import audit, crowd, drive, faults
from support.forked import run_forked
from support.world import RUN_PLAN


@when('{people:d} processes save {count:d} checkpoints each on plan "{name:Text}" at once')
def _(context, people, count, name):
    context.complaints = crowd.work_at_once(context.world, [("save", name, count)] * people)


@when("{count:d} processes each create a plan and save once, all at once")
def _(context, count):
    jobs = [("create", f"plan-{number}", 1) for number in range(count)]
    context.complaints = crowd.work_at_once(context.world, jobs)


@then("none of them complained")
def _(context):
    assert not context.complaints, "\n".join(context.complaints)


@then("there are {plans:d} plans with {count:d} complete checkpoints each, without a gap")
def _(context, plans, count):
    rows = audit.query(
        context.world,
        "SELECT plan_id, seq FROM checkpoint_metadata WHERE state = 'complete' ORDER BY seq",
    )
    by_plan = {}
    for row in rows:
        by_plan.setdefault(row["plan_id"], []).append(row["seq"])
    assert len(by_plan) == plans, by_plan
    assert all(numbers == list(range(1, count + 1)) for numbers in by_plan.values()), by_plan


@then('ids of plan "{name:Text}" grow with its numbers')
def _(context, name):
    rows = audit.query(
        context.world,
        "SELECT checkpoint_id FROM checkpoint_metadata JOIN plans USING (plan_id)"
        " WHERE name = ? ORDER BY seq",
        name,
    )
    ids = [row["checkpoint_id"] for row in rows]
    assert ids == sorted(ids), ids


def _sandbox_lock(context):
    sandbox = drive.plan_now(context).sandbox.sandbox_id
    return context.world.backtrail_home / "locks" / f"{sandbox}.lock"


@when('"{command:Text}" is run while another process holds the sandbox')
def _(context, command):
    with crowd.somebody_holding(_sandbox_lock(context)):
        began = time.monotonic()
        context.ran = run_forked(context.world, *command.split()[1:])
        context.waited = time.monotonic() - began


@then("it waited for about {seconds:g} seconds")
def _(context, seconds):
    assert seconds <= context.waited < seconds + 5, context.waited


@given('"plan save auth" was killed while its git still runs')
def _(context):
    env = faults.faulty_git(context.world, "write-tree", "dawdles")
    plan = subprocess.Popen(
        [sys.executable, "-c", RUN_PLAN, "save", "auth"],
        cwd=context.world.repo,
        env={**context.world.environment(), **env},
    )
    context.orphan = faults.dawdling(context.world)
    plan.send_signal(signal.SIGKILL)
    plan.wait()


@when("that git has ended")
def _(context):
    deadline = time.monotonic() + 30
    while os.path.exists(f"/proc/{context.orphan}") and time.monotonic() < deadline:
        time.sleep(0.05)
