"""Steps about the command line: what is typed, what comes back, and what did not change."""

import itertools
import json
import re
import shlex
import sys

from behave import given, step, then, when

from support.decisions import decisions
from support.program.answers import check_refusal, in_every_format
from support.program.forked import run_forked
from support.world import drive, evidence, phrases
from support.world.world import RUN_PLAN


def words(context, command):
    """The arguments of `plan …`; what stands in braces is only known when it runs."""
    known = re.sub(r"\{(.+?)\}", lambda found: shlex.quote(_known(context, found[1])), command)
    program, *arguments = shlex.split(known)
    assert program == "plan", command
    return arguments


def _known(context, what):
    if what == "repository":
        return str(context.world.repo)
    if what.startswith("sandbox of "):
        return str(context.world.sandbox(what.removeprefix("sandbox of ")))
    if what.startswith("id of plan "):
        return context.plans[what.removeprefix("id of plan ")].plan_id
    if what == "beginning of plans":
        return _common_beginning([plan.plan_id for plan in context.plans.values()])
    named = what.removeprefix("id of ").removeprefix("beginning of ")
    return decisions.named_id(context, named) or _checkpoint(context, what)


def _checkpoint(context, what):
    ids = {c.label: c.checkpoint_id for plan in context.plans.values() for c in _all(context, plan)}
    if what == "beginning of ids":
        return _common_beginning(list(ids.values()))
    return ids[what.removeprefix("id of ")]


def _common_beginning(ids):
    letters = zip(min(ids), max(ids), strict=True)
    return "".join(one for one, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], letters))


def _all(context, plan):
    with context.world.services() as services:
        return services.checkpoints.list_checkpoints(plan.plan_id)


@step('I run "{command:Text}"')
def _(context, command):
    context.ran = run_forked(context.world, *words(context, command))


@step('I run "{command:Text}" in the sandbox')
def _(context, command):
    place = drive.sandbox(context)
    context.ran = run_forked(context.world, *words(context, command), cwd=place)


@step('I run "{command:Text}" in "{place:Text}"')
def _(context, command, place):
    cwd = context.world.root / place
    cwd.mkdir(parents=True, exist_ok=True)
    context.ran = run_forked(context.world, *words(context, command), cwd=cwd)


@step('I run "{command:Text}" with {name}={value} in the sandbox of "{plan:Text}"')
def _(context, command, name, value, plan):
    cwd = context.world.sandbox(plan)
    context.ran = run_forked(context.world, *words(context, command), cwd=cwd, env={name: value})


@step('I run "{command:Text}" with {name}={value}')
def _(context, command, name, value):
    value = value.replace("{repository}", str(context.world.repo))
    context.ran = run_forked(context.world, *words(context, command), env={name: value})


@when('I run "{command:Text}" in every format')
def _(context, command):
    run_in_every_format(context, command, context.world.repo)


@when('I run "{command:Text}" in every format, in "{place:Text}"')
def _(context, command, place):
    cwd = context.world.root / place
    cwd.mkdir(parents=True, exist_ok=True)
    run_in_every_format(context, command, cwd)


def run_in_every_format(context, command, cwd):
    context.before = evidence.collect(context.world)
    context.answers = _answers(context, command, cwd)


def _answers(context, command, cwd):
    return in_every_format(context.world, *words(context, command), cwd=cwd)


@then("these are refused in every format, with one sentence and a hint:")
def _(context):
    context.before = evidence.collect(context.world)
    wrong = []
    for row in context.table:
        answers = _answers(context, row["command"], context.world.repo)
        for name, ran in answers.items():
            try:
                check_refusal(name, ran, int(row["exit code"]))
            except AssertionError as error:
                wrong.append(str(error))
    assert not wrong, "\n".join(wrong)


@then("every format says so in one sentence with a hint, and exits with {code:d}")
def _(context, code):
    for name, ran in context.answers.items():
        check_refusal(name, ran, code)


@then("these are refused with 2, and only some come with a suggestion:")
def _(context):
    for row in context.table:
        ran = run_forked(context.world, *words(context, row["command"]))
        assert ran.code == 2, ran
        suggested = ran.err.splitlines()[0].partition("Did you mean ")[2].rstrip("?")
        assert suggested == row["suggestion"].replace("none", ""), ran


@then("no file, no ref, no index and no row has changed")
def _(context):
    differences = context.before.differences(evidence.collect(context.world))
    assert not differences, "\n".join(differences)


@given("I take stock of everything")
def _(context):
    context.before = evidence.collect(context.world)


@then("it succeeds")
def _(context):
    context.ran.ok()


@then("it exits with {code:d}")
def _(context, code):
    assert context.ran.code == code, context.ran


@then('it exits with {code:d} and says "{words_:Text}"')
def _(context, code, words_):
    assert context.ran.code == code, context.ran
    assert words_ in context.ran.err, context.ran


@then('it notes "{words_:Text}"')
def _(context, words_):
    assert words_ in context.ran.err, context.ran


@then('it prints "{words_:Text}"')
def _(context, words_):
    assert words_ in context.ran.out, context.ran


@then('it prints nothing but the path of the sandbox of "{name:Text}"')
def _(context, name):
    assert context.ran.ok().out == f"{context.world.sandbox(name)}\n", context.ran


@then("its JSON has {path} {value}")
def _(context, path, value):
    found = context.ran.json()
    for part in path.split("."):
        found = found[int(part)] if isinstance(found, list) else found[part]
    assert found == json.loads(value), found


@step('I then run "{command:Text}"')
def _(context, command):
    context.told = context.ran.ok().json()["data"]
    context.ran = run_forked(context.world, *words(context, command))


@then("what happened is what the dry run told")
def _(context):
    happened = context.ran.ok().json()["data"]
    for part in ("changes_reverted", "left_alone", "gone_since", "impact", "post_rollback_state"):
        assert happened[part] == context.told[part], (part, happened[part], context.told[part])
    assert happened["changes_reverted"], "nothing happened"


@then('it tells "{words_:Text}"')
def _(context, words_):
    assert words_ in context.ran.ok().json()["messages"], context.ran.json()["messages"]


@then('it does not tell "{words_:Text}"')
def _(context, words_):
    assert not [m for m in context.ran.ok().json()["messages"] if words_ in m], context.ran.json()


@then("left alone, by its JSON, were: {listed}")
def _(context, listed):
    found = [left["file"] for left in context.ran.ok().json()["data"]["left_alone"]]
    assert found == phrases.names(listed), found


@when('I look at what "{command:Text}" loads')
def _(context, command):
    program = [sys.executable, "-X", "importtime", "-c", RUN_PLAN, *words(context, command)]
    said = context.world.run(*program).ok().err
    imports = [line for line in said.splitlines() if line.startswith("import time:")]
    context.loaded = {line.rsplit("|", 1)[1].strip() for line in imports}


@then("it loads: {modules}")
def _(context, modules):
    missing = set(phrases.names(modules)) - context.loaded
    assert not missing, missing


@then("it loads none of: {modules}")
def _(context, modules):
    assert "backtrail.cli.main" in context.loaded
    loaded = set(phrases.names(modules)) & context.loaded
    assert not loaded, loaded
