"""Steps about locks of the user's own git."""

import subprocess

from behave import given, then, when


def _hold(context, lock):
    context.lock = context.world.repo / ".git" / lock
    context.lock.write_text("theirs")


@given('another git holds "{lock:Text}" for a moment')
def _(context, lock):
    _hold(context, lock)
    ends = ["sh", "-c", 'sleep 1.5 && rm "$0"', str(context.lock)]
    context.other_git = subprocess.Popen(ends)
    context.add_cleanup(context.other_git.wait)


@given('another git holds "{lock:Text}"')
def _(context, lock):
    _hold(context, lock)


@when("that other git ends")
def _(context):
    assert context.lock.read_text() == "theirs"
    context.lock.unlink()


@then("it had waited for that git")
def _(context):
    # It ends right after its lock: were it still at work, nobody would have waited.
    assert context.other_git.wait(0.2) == 0
