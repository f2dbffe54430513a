"""Steps about going back and forth: rollback, undo and redo."""

import os
import shlex

from behave import given, step, then, when

from backtrail.domain.rollback import RollbackRequest
from support.program.forked import DoHere, WriteHere
from support.sandbox import changes
from support.world import drive, phrases

MOVING = RollbackRequest(move_branch=True)


def _go(context, how):
    """Go back or forth; scenarios may ask for the result, or for the error."""
    drive.remember(context, "just before")
    context.ids_before_rollback = {c.checkpoint_id for c in drive.listed(context)}
    with drive.checkpoints(context) as service:
        context.result = how(service, context.plan.plan_id)


@step('I roll back to "{reference:Text}"')
def _(context, reference):
    named = drive.reference(context, reference)
    _go(context, lambda service, plan: service.rollback_to_checkpoint(plan, named))


@step('I roll back only "{path:Text}" to "{reference:Text}"')
def _(context, path, reference):
    _go(
        context,
        lambda service, plan: service.rollback_to_checkpoint(
            plan, reference, RollbackRequest((path,))
        ),
    )


@step('I roll back to "{reference:Text}" and move the branch')
def _(context, reference):
    _go(
        context,
        lambda service, plan: service.rollback_to_checkpoint(plan, reference, MOVING),
    )


@step("I undo")
def _(context):
    _go(context, lambda service, plan: service.undo(plan))


@step("I redo")
def _(context):
    _go(context, lambda service, plan: service.redo(plan))


@when("I undo {count:d} times")
def _(context, count):
    for _time in range(count):
        _go(context, lambda service, plan: service.undo(plan))


@given('I roll back between "{one:Text}" and "{other:Text}" {count:d} times')
def _(context, one, other, count):
    between = [drive.reference(context, name) for name in (one, other)]
    for number in range(count):
        target = between[number % 2]
        _go(context, lambda service, plan, to=target: service.rollback_to_checkpoint(plan, to))


@then("a rollback takes back whatever the agent does, and undo brings it back:")
def _(context):
    """All of it in one sandbox: one undo after the other then leads from change to change."""
    before, after = context.remembered["before"], {}
    for change in context.table.rows:
        changes.make(change[0], drive.sandbox(context))
        after[change[0]] = drive.look(context)
        assert before.differences(after[change[0]]), f"the agent did nothing: {change[0]}"
        _go(context, lambda service, plan: service.rollback_to_checkpoint(plan, "before"))
        _compare(context, before, change[0])
    for change, picture in reversed(after.items()):
        _go(context, lambda service, plan: service.undo(plan))
        _compare(context, picture, change)


def _compare(context, wanted, change):
    differences = wanted.differences(drive.look(context))
    assert not differences, "\n".join((change, *differences))


@when('somebody writes to "{path:Text}" while I roll back to "{reference:Text}"')
def _(context, path, reference):
    _go_wrong(context, path, lambda service: service.rollback_to_checkpoint, reference)


@when('somebody writes to "{path:Text}" while I undo')
def _(context, path):
    _go_wrong(context, path, lambda service: service.undo)


def _go_wrong(context, path, act, *words):
    meddler = WriteHere("rollback.git_restored", drive.sandbox(context) / path, "meddling\n")
    drive.remember(context, "just before")
    with context.world.services(meddler) as services:
        context.error = drive.refusal(act(services.checkpoints), context.plan.plan_id, *words)


@when(
    'the user runs "{command:Text}" at "{place:Text}" of a rollback to "{reference:Text}" '
    "that moves the branch"
)
def _(context, command, place, reference):
    meddler = DoHere(place, lambda: context.world.run(*shlex.split(command)).ok())
    with context.world.services(meddler) as services:
        act = services.checkpoints.rollback_to_checkpoint
        context.error = drive.refusal(act, context.plan.plan_id, reference, MOVING)


@then('branch "{branch:Text}" is where the user put it')
def _(context, branch):
    found = context.world.git("rev-parse", f"refs/heads/{branch}", "main").split()
    assert found[0] == found[1], found


@when("I try to {what}")
def _(context, what):
    with drive.checkpoints(context) as service:
        act = {"undo": service.undo, "redo": service.redo}[what]
        context.error = drive.refusal(act, context.plan.plan_id)


@then("it is refused with exit code {code:d}")
def _(context, code):
    assert context.error is not None, "it was not refused"
    assert context.error.exit_code == code, repr(context.error)


@then("it is not refused")
def _(context):
    assert context.error is None, repr(context.error)


@then('the refusal names "{word:Text}"')
def _(context, word):
    told = f"{context.error.message} {context.error.hint} {context.error.details}"
    assert word in told, told


@then("the result is proven, and its safety checkpoint holds what was there before")
def _(context):
    assert context.result.verified
    held = drive.stored_files(context, context.result.safety_checkpoint)
    files = set(map(os.fsdecode, context.remembered["just before"].without_directories()))
    assert set(held) == files, (held, files)


@then("restored were: {listed}")
def _(context, listed):
    found = [c.file for c in context.result.changes if c.action == "restored"]
    assert found == phrases.names(listed), found


@then("removed were: {listed}")
def _(context, listed):
    found = [c.file for c in context.result.changes if c.action == "removed"]
    assert found == phrases.names(listed), found


@then("left alone were: {listed}")
def _(context, listed):
    found = [left.file for left in context.result.left_alone]
    assert found == phrases.names(listed), found


@then('the result says "{words:Text}"')
def _(context, words):
    assert any(words in message for message in context.result.messages), context.result.messages


@then("the result says nothing more")
def _(context):
    assert not context.result.messages, context.result.messages


@then("the superseded checkpoints it counts are {count:d}")
def _(context, count):
    assert context.result.impact.checkpoints_superseded == count, context.result.impact


@then("the log, newest first, tells of: {kinds}")
def _(context, kinds):
    found = [entry["kind"] for entry in context.ran.json()["data"]["operations"]]
    assert found == phrases.names(kinds), found
