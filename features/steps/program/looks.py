"""Steps about what is shown to people."""

import shlex
from datetime import UTC, datetime, timedelta

from behave import given, then, when

from support.program.forked import run_forked
from support.world import audit, drive, phrases
from support.world.world import write_files


@then("it shows: {listed}")
def _(context, listed):
    """Each of these words, one after the other."""
    rest = context.ran.out
    for words in listed.split(" | "):
        before, found, rest = rest.partition(words)
        assert found, f"{words!r} is not in\n{before}"


@then('it shows the id of plan "{name:Text}"')
def _(context, name):
    with context.world.services() as services:
        wanted = services.plans.resolve(name).plan_id
    assert wanted in context.ran.ok().out, context.ran


@then("it shows the id of the latest checkpoint")
def _(context):
    assert drive.listed(context, include_all=False)[-1].checkpoint_id in context.ran.ok().out


@given("{count:d} new files in the sandbox")
def _(context, count):
    names = (f"file-{number + 1:02}" for number in range(count))
    write_files(drive.sandbox(context), dict.fromkeys(names, "new\n"))


@given('checkpoint "{name:Text}" was made {count:d} {unit} ago')
def _(context, name, count, unit):
    moment = datetime.now(UTC) - timedelta(**{unit: count})
    value = moment.replace(tzinfo=None).isoformat(" ")
    sql = "UPDATE checkpoint_metadata SET created_at = ? WHERE checkpoint_id = ?"
    assert audit.change(context.world, sql, value, drive.find(context, name).checkpoint_id) == 1


def _spelled(text):
    r"""A text in which \x1b and the like stand for what terminals do not show."""
    return text.encode("latin-1").decode("unicode_escape")


@when('I save a checkpoint because of "{reason:Text}"')
def _(context, reason):
    context.ran = run_forked(context.world, "save", context.plan.name, "-m", _spelled(reason)).ok()


@given('a file named "{name:Text}" with "{content:Text}" in it')
def _(context, name, content):
    write_files(drive.sandbox(context), {_spelled(name): _spelled(content)})


def _completion(context, line, cwd=None):
    words = shlex.split(line)
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    env = {"_PLAN_COMPLETE": "complete_bash", **asked}
    context.offered = run_forked(context.world, cwd=cwd, env=env).out.split()


@when('the shell asks what could follow "{line:Text}"')
def _(context, line):
    _completion(context, line)


@when('the shell asks what could follow "{line:Text}" in "{place:Text}"')
def _(context, line, place):
    cwd = context.world.root / place
    cwd.mkdir()
    _completion(context, line, cwd)


@then("it is offered: {listed}")
def _(context, listed):
    assert sorted(context.offered) == sorted(phrases.names(listed)), context.offered
