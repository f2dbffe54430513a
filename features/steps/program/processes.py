"""Steps about several processes at once."""

import signal
import subprocess
import time

from behave import given, then, when

from support.crashes import faults
from support.program import crowd
from support.program.forked import run_forked
from support.world import audit, drive, phrases


@when('{people:d} processes save {count:d} checkpoints each on plan "{name:Text}" at once')
def _(context, people, count, name):
    context.complaints = crowd.work_at_once(context.world, [("save", name, count)] * people)


@when("a process each saves {count:d} checkpoints on these plans at once: {plans}")
def _(context, count, plans):
    jobs = [("save", name, count) for name in phrases.names(plans)]
    context.complaints = crowd.work_at_once(context.world, jobs)


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


@then("it waited for {seconds:g} seconds, and not for the usual {usual:g}")
def _(context, seconds, usual):
    assert seconds <= context.waited < usual, context.waited


@given('"plan save auth" was killed while its git still runs')
def _(context):
    env = faults.faulty_git(context.world, "write-tree", "dawdles")
    plan = subprocess.Popen(
        [*context.world.program(), "save", "auth"],
        cwd=context.world.repo,
        env={**context.world.environment(), **env},
    )
    faults.wait_until_it_dawdles(context.world)
    plan.send_signal(signal.SIGKILL)
    plan.wait()


@when("that git ends")
def _(context):
    faults.let_it_go_on(context.world)
