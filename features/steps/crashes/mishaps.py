"""Steps about what goes wrong around the program, or inside it."""

import errno
import json
import os
import signal
import stat
import subprocess
from pathlib import Path

from behave import given, then, when

from support.crashes import faults
from support.program.forked import run_forked
from support.world import audit
from support.world.world import PATIENCE_SECONDS, Ran


class FailHere:
    """Something that goes wrong at a named place."""

    def __init__(self, name, error):
        self._name, self._error = name, error

    def reach(self, name):
        if name == self._name:
            raise self._error


ERRORS = {
    "a defect": ZeroDivisionError("division by zero"),
    "a full disk": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "some file"),
}


@when('"{command:Text}" meets {mishap} at "{place:Text}"')
def _(context, command, mishap, place):
    failure = FailHere(place, ERRORS[mishap])
    context.ran = run_forked(context.world, *command.split()[1:], failpoints=failure)


@when('"{command:Text}" meets a defect that tells of "{words:Text}"')
def _(context, command, words):
    failure = FailHere("create.announced", ZeroDivisionError(words))
    context.ran = run_forked(context.world, *command.split()[1:], failpoints=failure)


class NoMoreFiles(FailHere):
    """A defect after which not even a log can be written."""

    def reach(self, name):
        if name == self._name:
            import tempfile

            tempfile.tempdir = "/nonexistent"
        super().reach(name)


@when('"{command:Text}" meets a defect at "{place:Text}", and no file can be made')
def _(context, command, place):
    failure = NoMoreFiles(place, ERRORS["a defect"])
    context.ran = run_forked(context.world, *command.split()[1:], failpoints=failure)


@then("it names a log, for the user's eyes only, that tells where it happened")
def _(context):
    log = Path(context.ran.err.partition("what happened is in ")[2].partition(";")[0])
    try:
        assert stat.S_IMODE(log.stat().st_mode) == 0o600, oct(log.stat().st_mode)
        text = log.read_text()
    finally:
        log.unlink()
    assert "plan save auth" in text, text
    assert "Traceback" in text, text
    assert "ZeroDivisionError: division by zero" in text, text


@when('I run "{command:Text}" and the disk is full that its answer goes to')
def _(context, command):
    words = [*context.world.program(), *command.split()[1:]]
    context.ran = context.world.run("sh", "-c", 'exec "$@" >/dev/full', "sh", *words)


@when('I run "{command:Text}" where git is not installed')
def _(context, command):
    env = {"PATH": str(context.world.home)}
    context.ran = run_forked(context.world, *command.split()[1:], env=env)


@given('"{command:Text}" waits for its git')
def _(context, command):
    _wait_for_git(context, command, faults.faulty_git(context.world, "write-tree", "dawdles"))


@given('"{command:Text}" waits for a git that has just removed "work.txt"')
def _(context, command):
    way = "removes work.txt and dawdles"
    _wait_for_git(context, command, faults.faulty_git(context.world, "read-tree -m", way))


def _wait_for_git(context, command, env):
    world = context.world
    context.process = subprocess.Popen(
        [*world.program(), *command.split()[1:]],
        cwd=world.repo,
        env={**world.environment(), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    context.git = faults.wait_until_it_dawdles(world)


@when("Ctrl-C is pressed")
def _(context):
    context.process.send_signal(signal.SIGINT)
    out, err = context.process.communicate(timeout=PATIENCE_SECONDS)
    context.ran = Ran(("plan",), context.process.returncode, out, err)


@then("that git has ended as well")
def _(context):
    try:
        os.kill(context.git, 0)
    except ProcessLookupError:
        return
    state = Path(f"/proc/{context.git}/stat").read_text().rpartition(")")[2].split()[0]
    assert state == "Z", f"git is still there: {state}"


@when('I run "{command:Text}" in a folder that was deleted')
def _(context, command):
    words = command.replace("{repository}", f"'{context.world.repo}'").removeprefix("plan ")
    program = " ".join(f"'{word}'" for word in context.world.program())
    shell = f"mkdir gone && cd gone && rmdir ../gone && exec {program} {words}"
    context.ran = context.world.run("sh", "-c", shell, cwd=context.world.root)


DAMAGE = {
    "is cut off": lambda text: text[:20],
    "is a list": lambda text: f"[{json.dumps(text)}]",
    "lists what it does not hold as a word": lambda text: json.dumps(
        {**json.loads(text), "not_captured": "a word"}
    ),
}


@given('the metadata of checkpoint "{label:Text}" {damage}')
def _(context, label, damage):
    sql = "SELECT metadata_json FROM checkpoint_metadata WHERE label = ?"
    [row] = audit.query(context.world, sql, label)
    damaged = DAMAGE[damage](row["metadata_json"])
    sql = "UPDATE checkpoint_metadata SET metadata_json = ? WHERE label = ?"
    assert audit.change(context.world, sql, damaged, label) == 1


@given("every checkpoint row of the plan is deleted")
def _(context):
    assert audit.change(context.world, "DELETE FROM checkpoint_metadata") > 1
