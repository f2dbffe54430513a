"""Steps about the processes of a run: those that hide, and the signals that end it."""

import os
import signal
import sys

from behave import given, then, when

from support.program import running
from support.program.forked import DoHere, run_forked
from support.world import audit
from support.world.world import RUN_PLAN

BUSY = "while :; do echo bad >work.txt; sleep 0.02; done"
HIDING = {
    "ignores SIGTERM": f"(trap '' TERM; {BUSY}) & echo $! >../../pid",
    "has a session of its own": f"setsid sh -c 'echo $$ >../../pid; {BUSY}' &",
    "has become a daemon": f"(setsid sh -c 'echo $$ >../../pid; {BUSY}' &)",
    "has become a daemon without environment": (
        f"(env -i PATH=$PATH setsid sh -c 'echo $$ >../../pid; {BUSY}' &)"
    ),
    "is stopped": f"(setsid sh -c 'echo $$ >../../pid; kill -STOP $$; {BUSY}' &)",
}
NOT_OURS = (
    "setpriv --reuid 65534 --clear-groups sleep 600 >/dev/null 2>&1 & echo $! >../../pid; "
    "until grep -q sleep /proc/$!/comm; do :; done; exit 1"
)


@when("a command leaves a process that {hides} and writes all the time, and fails")
def _(context, hides):
    script = f"{HIDING[hides]}\nwhile [ ! -s ../../pid ]; do sleep 0.01; done; exit 1"
    context.ran = run_forked(
        context.world, "run", "auth", "--on-failure", "rollback", "--", "sh", "-c", script
    )


@given('plan "{name:Text}" is run with --on-abort {action} until it gets {number}')
def _(context, name, action, number):
    script = "echo bad >work.txt; sleep 600 & echo $! >../../pid; wait"
    words = ("run", name, "--on-abort", action, "--", "sh", "-c", script)
    context.running = running.start(context.world, *words)
    place = context.world.root / "pid"
    running.wait_until(lambda: place.exists() and place.read_text(), "it has begun")
    context.running.send(signal.Signals[number])


@when("a run gets SIGTERM while its checkpoint is made")
def _(context):
    place = DoHere("create.pinned", lambda: os.kill(os.getpid(), signal.SIGTERM))
    context.ran = run_forked(context.world, "run", "auth", "--", "touch", "ran", failpoints=place)


@when("a run leaves a process that may not be ended, and fails")
def _(context):
    """Even root needs the right to do so, and to lend its identity to others is another one."""
    if os.geteuid() != 0:
        context.scenario.skip("only root can make a process that its own plan run may not end")
        return
    plan = [sys.executable, "-c", RUN_PLAN, "run", "auth", "--on-failure", "rollback"]
    context.ran = context.world.run(
        "setpriv", "--bounding-set", "-kill", *plan, "--", "sh", "-c", NOT_OURS
    )


@then("the error names that process, and the files are kept")
def _(context):
    pid = int((context.world.root / "pid").read_text())
    try:
        assert running.is_alive(pid)
        assert f"{pid} (sleep)" in context.ran.err, context.ran
        [row] = audit.query(context.world, "SELECT * FROM runs")
        assert (row["status"], row["live_plan_id"]) == ("error", None), row
    finally:
        os.kill(pid, signal.SIGKILL)
