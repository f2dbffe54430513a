"""Steps about steps of Python code."""

import json
import signal
from collections import Counter

from behave import then, when

from support.runs.step_functions import Program
from support.world import audit, phrases

NUMBERS = {"once": 1}


def program_of(context):
    if not hasattr(context, "program"):
        context.program = Program(context.world)
    return context.program


@when("Python runs the steps: {calls}")
def _(context, calls):
    program_of(context).run(calls)


@when("Python runs the steps, failures reused: {calls}")
def _(context, calls):
    program_of(context).run(calls, reuse_failed=True)


@when('Python runs the steps, reconciled as "{value:Text}": {calls}')
def _(context, value, calls):
    program_of(context).run(calls, reconcile=lambda: value)


@when('Python runs the steps and is killed at "{place:Text}": {calls}')
def _(context, place, calls):
    code = program_of(context).run_killed(calls, place)
    assert code == -signal.SIGKILL, code


@when("Python calls a step without a run")
def _(context):
    program_of(context).outside()


@when("somebody damages the recorded results")
def _(context):
    assert audit.change(
        context.world, "UPDATE step_marks SET value_json = '{' WHERE value_json > ''"
    )


@then("they gave: {values}")
def _(context, values):
    program = program_of(context)
    assert program.error is None, repr(program.error)
    assert program.results == json.loads(f"[{values}]"), program.results


@then('{kind} was raised, which says "{words:Text}"')
def _(context, kind, words):
    error = program_of(context).error
    assert type(error).__name__ == kind, repr(error)
    assert words in str(error), error


@then('it is noted that "{words:Text}"')
def _(context, words):
    notices = program_of(context).notices
    assert any(words in notice for notice in notices), notices


@then("the functions were called: {counts}")
def _(context, counts):
    found = Counter(program_of(context).called())
    wanted = {}
    for part in phrases.names(counts):
        name, number = part.split(" ", 1)
        wanted[name] = NUMBERS.get(number) or int(number.split()[0])
    assert found == wanted, found


@then("the Python steps are: {listed}")
def _(context, listed):
    with context.world.services() as services:
        plan = services.plans.resolve("auth").plan_id
        steps = services.steps.list_steps(plan).steps
    found = [f"{s.entry.step.name.key} {s.entry.step.name.ordinal} {s.status}" for s in steps]
    assert found == phrases.names(listed), found
