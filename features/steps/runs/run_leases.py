"""Steps about who holds a run, and about several who want one."""

import os
import signal
import time

from behave import given, then, when

from backtrail.domain.run import AbortAction
from backtrail.services.runs.admission import request_abort
from support.crashes import faults
from support.program import running
from support.program.forked import DoHere, run_forked
from support.runs import holders
from support.world import audit, drive

LOST = 8


def _runs(context):
    return audit.query(context.world, "SELECT * FROM runs ORDER BY number")


@given('a holder with a short lease runs "{script:Text}" in plan "{name:Text}"')
def _(context, script, name):
    context.holder = holders.hold(context.world, name, script)
    running.wait_until(
        lambda: [r for r in _runs(context) if r["status"] == "running"], "the command runs"
    )
    context.began = time.monotonic()


@given(
    'a holder with a short lease runs "{script:Text}" in plan "{name:Text}", '
    'and stops itself at "{place:Text}"'
)
def _(context, script, name, place):
    context.holder = holders.hold(context.world, name, script, holders.StopHere(place))
    holders.wait_until_stopped(context.holder)


@when("the holder is stopped for longer than its lease")
def _(context):
    holders.stop_between_writes(context.world, context.holder)
    holders.longer_than_the_lease()


@when("it has been stopped for longer than its lease")
def _(context):
    holders.longer_than_the_lease()


@when("more time than its lease has passed")
def _(context):
    time.sleep(max(0, holders.SHORT.lease + 0.2 - (time.monotonic() - context.began)))


@when("the holder goes on")
def _(context):
    os.kill(context.holder, signal.SIGCONT)


@then("it has lost its lease")
def _(context):
    _, status = os.waitpid(context.holder, 0)
    assert os.waitstatus_to_exitcode(status) == LOST, status


@then("the holder ends with {code:d}")
def _(context, code):
    _, status = os.waitpid(context.holder, 0)
    assert os.waitstatus_to_exitcode(status) == code, status


@when(
    "somebody asks for the end of a run with rollback just when its command "
    '"{script:Text}" has succeeded'
)
def _(context, script):
    def abort():
        with context.world.services() as services:
            run = services.runs.get(context.plan.plan_id, "1")
            assert request_abort(services.workspace, run, AbortAction.ROLLBACK)

    place = DoHere("run.family_ended", abort)
    words = ("run", "auth", "--", "sh", "-c", script)
    context.ran = run_forked(context.world, *words, failpoints=place)


@when("another run is tried while a run is finishing, and one that replaces it")
def _(context):
    world = context.world
    stopping = holders.StopHere("run.finalizing")
    finishing = running.start(world, "run", "auth", "--", "true", failpoints=stopping)
    holders.wait_until_stopped(finishing.pid)
    context.ran = run_forked(world, "run", "auth", "--", "true")
    replacing = ("run", "auth", "--if-running", "rollback", "--", "touch", "replaced")
    second = running.start(world, *replacing)
    time.sleep(0.7)
    assert not (drive.sandbox(context) / "replaced").exists()
    finishing.send(signal.SIGCONT)
    assert (finishing.wait().code, second.wait().code) == (0, 0)


@then("the first is rejected, and the second ran when the finishing one was over")
def _(context):
    assert context.ran.code == 125, context.ran
    assert "run 1 of this plan is finishing" in context.ran.err, context.ran
    first, second = _runs(context)
    assert (first["status"], second["status"]) == ("success", "success"), (first, second)
    assert second["created_at"] >= first["ended_at"], (first, second)
    assert (drive.sandbox(context) / "replaced").exists()


@when(
    'two processes run commands in plan "auth" at once with --if-running {strategy}, '
    "again and again"
)
def _(context, strategy):
    context.rounds = holders.race(context.world, strategy)
    context.strategy = strategy


@then("never were two commands alive together")
def _(context):
    assert not (context.world.root / "together").exists()
    codes = {ran.code for pair in context.rounds for ran in pair}
    allowed = {"reject": {0, 125}}.get(context.strategy, {0, 130})
    assert codes <= allowed, context.rounds
    for pair in context.rounds:
        assert 0 in {ran.code for ran in pair}, pair


@then("never was the newest run's work overwritten")
def _(context):
    newest = [row for row in _runs(context) if row["status"] == "success"][-1]
    text = (drive.sandbox(context) / "work.txt").read_text()
    assert text == f"{newest['run_id']}\n", (text, newest)


@given('it has made "{path:Text}"')
def _(context, path):
    running.wait_until((drive.sandbox(context) / path).exists, path)


@given(
    'plan "{name:Text}" runs "{command:Text}" in the background, and git "{subcommand:Text}" fails'
)
def _(context, name, command, subcommand):
    env = faults.faulty_git(context.world, subcommand, "fails")
    script = command.removeprefix("sh -c '").removesuffix("'")
    words = ("run", name, "--", "sh", "-c", f"{script.replace('; sleep', '; touch begun; sleep')}")
    context.running = running.start(context.world, *words, env=env)
    running.wait_until((drive.sandbox(context) / "begun").exists, "it has begun")
