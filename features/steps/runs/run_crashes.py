"""Steps about runs whose `plan run` is killed."""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta

from behave import step, then, when

from backtrail.processes.table import by_ps, process_at
from support.crashes import crashes
from support.program import running
from support.program.forked import run_forked
from support.runs import run_kills
from support.world import audit, drive
from support.world.world import RUN_PLAN


@when(
    "a run that fails and is rolled back is killed at each of its failpoints, "
    "and each time the next command is run"
)
def _(context):
    context.crashes = run_kills.kill_everywhere(context.world, crashes.all_failpoints("run"))


@then("no failpoint of a run was left out")
def _(context):
    seen = {crash.places[0] for crash in context.crashes}
    assert crashes.all_failpoints("run") <= seen, seen
    assert len(seen) > 15, seen


@then("every time the next command succeeded, and no process of the run was alive")
def _(context):
    found = crashes.report(context.crashes, "usable")
    assert not found, found


@then("every time the run was over, and its files were kept or rolled back wholly")
def _(context):
    found = crashes.report(context.crashes, "over")
    assert not found, found


@then("every time another run could be started")
def _(context):
    found = crashes.report(context.crashes, "again")
    assert not found, found


@step('it has written "{path:Text}"')
def _(context, path):
    place = drive.sandbox(context) / path
    running.wait_until(lambda: place.exists() and place.read_text().endswith("\n"), path)


@step("that plan run is killed by SIGKILL")
def _(context):
    context.running.kill()


@step("that plan run is killed by SIGKILL, with all that it started")
def _(context):
    context.running.kill()
    [row] = audit.query(context.world, "SELECT * FROM runs WHERE number = 1")
    run_kills.kill_all(row["run_id"])


@when("its pid is given to another process")
def _(context):
    """What a run's row would look like if the kernel had used the number again: for ours."""
    [row] = audit.query(context.world, "SELECT * FROM runs WHERE number = 1")
    _pid, rest = row["holder"].split(" ", 1)
    sql = "UPDATE runs SET holder = ? WHERE number = 1"
    assert audit.change(context.world, sql, f"{os.getpid()} {rest}") == 1


@step("run {number:d} is held by another host, whose lease ends in {seconds:d} seconds")
def _(context, number, seconds):
    until = (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S.%f")
    sql = "UPDATE runs SET holder = '1 1 elsewhere', lease_until = ? WHERE number = ?"
    assert audit.change(context.world, sql, until, number) == 1


@when('a run of plan "{name:Text}" kills its plan run and saves checkpoint "{label:Text}"')
def _(context, name, label):
    plan = f"'{sys.executable}' -c '{RUN_PLAN}'"
    script = (
        "kill -9 $PPID; while kill -0 $PPID; do sleep 0.05; done; "
        f"{plan} save --label {label}; touch saved; exec sleep 600"
    )
    run_forked(context.world, "run", name, "--", "sh", "-c", script)
    running.wait_until((drive.sandbox(context) / "saved").exists, "it has saved")


@then("ps lists this process as the kernel does")
def _(context):
    child = subprocess.Popen(["sleep", "60"])
    try:
        listed, known = by_ps(), process_at(child.pid)
        found = listed[child.pid]
        assert known is not None
        assert (found.parent, found.group) == (os.getpid(), known.group), found
        assert (found.name, found.zombie) == ("sleep", False), found
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
