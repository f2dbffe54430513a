"""Steps about blocks of Python code that are runs."""

import os
import signal
import subprocess

from behave import then, when

from backtrail.domain.run import AbortAction, OnFailure, RunOptions
from backtrail.services.lease import Timing
from backtrail.services.runs.admission import request_abort
from backtrail.services.runs.service import RunService
from support.program import running
from support.world import audit, drive

QUICK = Timing(look=0.02, grace=1.0)


def _block(context, path, text, then_, options=None):
    """Run a block that writes a file and does something more; what it raised, if anything."""
    options = options or RunOptions(OnFailure.ROLLBACK)
    context.raised = None
    with context.world.services() as services:
        runs = RunService(services.workspace, context.world.environment(), QUICK)
        try:
            with runs.run(context.plan.plan_id, options) as run:
                (drive.sandbox(context) / path).write_text(f"{text}\n")
                environ = {**os.environ, **run.environment}
                context.child = subprocess.Popen(["sleep", "600"], env=environ)
                then_(services, run)
        except Exception as error:  # noqa: BLE001 - the scenario looks at it
            context.raised = error
    context.child.wait()


def _nothing(services, run):
    run.check()


def _raise(services, run):
    raise ValueError("the block went wrong")


def _aborting(action, look):
    def act(services, run):
        assert request_abort(services.workspace, run.run, action)
        if look:
            running.wait_until(lambda: run.alarm.cause, "the wish is heard")
            run.check()

    return act


@when('a block of Python code writes "{text:Text}" to "{path:Text}", verified by "{check:Text}"')
def _(context, text, path, check):
    _block(context, path, text, _nothing, RunOptions(verify=check))


@when('a block of Python code writes "{text:Text}" to "{path:Text}" and raises ValueError')
def _(context, text, path):
    _block(context, path, text, _raise)


@when('a block of Python code writes "{text:Text}" to "{path:Text}" and is aborted with rollback')
def _(context, text, path):
    _block(context, path, text, _aborting(AbortAction.ROLLBACK, look=True))


@when(
    'a block of Python code writes "{text:Text}" to "{path:Text}" and is aborted, and does not look'
)
def _(context, text, path):
    _block(context, path, text, _aborting(AbortAction.INTERRUPT, look=False))


@when("a block of Python code raises ValueError after it made a link of a note of git")
def _(context):
    def merge(services, run):
        (audit.git_dir(context.world, "auth") / "MERGE_HEAD").symlink_to("HEAD")
        raise ValueError("in the middle of a merge")

    _block(context, "work.txt", "bad", merge)


@when("a block of Python code is killed by SIGKILL")
def _(context):
    child = os.fork()
    if child == 0:
        try:
            with context.world.services() as services:
                runs = services.runs
                with runs.run(context.plan.plan_id):
                    os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    os.waitpid(child, 0)


@then("the block succeeded")
def _(context):
    assert context.raised is None, context.raised
    assert context.child.returncode == -signal.SIGTERM, "what it started outlived it"


@then("the block raised {name}")
def _(context, name):
    assert type(context.raised).__name__ == name, repr(context.raised)
    assert context.child.returncode == -signal.SIGTERM, "what it started outlived it"
