"""Steps about files that must not enter memory."""

from behave import given, step, then

from backtrail.domain.checkpoint import CheckpointRequest
from support.checkpoints.large import (
    ALLOWED,
    SIZE,
    change_middle,
    fingerprint,
    make_large,
    memory_of,
)
from support.world import drive


def _watch(context, action):
    def work():
        with drive.checkpoints(context) as service:
            action(service, context.plan.plan_id)

    context.used.append(memory_of(work))


@given('a file "{path:Text}" that is larger than all memory that may be used')
def _(context, path):
    large = drive.sandbox(context) / path
    make_large(large)
    context.used, context.contents = [], [fingerprint(large)]


@step('one byte in the middle of "{path:Text}" changes')
def _(context, path):
    large = drive.sandbox(context) / path
    change_middle(large)
    context.contents.append(fingerprint(large))


@step('I save checkpoint "{label:Text}" under an eye on memory')
def _(context, label):
    request = CheckpointRequest(label=label)
    _watch(context, lambda service, plan: service.create_checkpoint(plan, request))


@step('I roll back to "{reference:Text}" under an eye on memory')
def _(context, reference):
    _watch(context, lambda service, plan: service.rollback_to_checkpoint(plan, reference))


@step("I undo under an eye on memory")
def _(context):
    _watch(context, lambda service, plan: service.undo(plan))


@then('"{path:Text}" is what it was {when}')
def _(context, path, when):
    wanted = context.contents[0 if when == "first" else -1]
    assert fingerprint(drive.sandbox(context) / path) == wanted


@then("memory never held more than a part of the file")
def _(context):
    assert context.used
    assert max(context.used) < ALLOWED < SIZE, [used // 1024**2 for used in context.used]
