"""Steps about JSON answers: that every command gives them, and that they are as documented."""

import json
import shlex

from behave import then, when

from support.program import schemas, tree
from support.program.forked import run_forked


@when("I ask for JSON with each of these:")
def _(context):
    context.asked = []
    for row in context.table:
        _, *arguments = shlex.split(row["command"])
        ran = run_forked(context.world, *arguments, "--format", "json")
        context.asked.append((row, ran))


@then("all of them succeeded")
def _(context):
    for _row, ran in context.asked:
        assert ran.ok().json()["status"] == "ok", ran


@then("each of them failed with its error")
def _(context):
    for row, ran in context.asked:
        assert ran.json()["error"]["code"] == row["error"], ran


@then("no command of the program was left out")
def _(context):
    answered = {ran.json()["command"] for _row, ran in context.asked} - {None}
    assert answered == tree.command_names(), answered ^ tree.command_names()


@then("it would be noticed if the answer")
def _(context):
    for row in context.table:
        changed = json.dumps(_changed(context.ran.json(), row["at"].split("."), row["value"]))
        assert _noticed(changed, context.ran.code), row


def _changed(answer, place, value):
    *before, name = place
    inside = answer
    for part in before:
        inside = inside[part]
    if value:
        inside[name] = json.loads(value)
    else:
        del inside[name]
    return answer


def _noticed(output, code):
    try:
        schemas.check_answer(output, code)
    except AssertionError:
        return True
    return False
