"""Steps about files and directories that do not hold still."""

from behave import given, step, then, when

from backtrail.domain.checkpoint import CheckpointRequest
from support.hostile import unsteady
from support.world import audit, drive


@step('git {fails} whenever it reads "{path:Text}", which changes')
def _(context, fails, path):
    place = drive.sandbox(context) / path
    context.env = unsteady.failing_git(context.world, place, fails, changing=True)


@step('git {fails} whenever it reads "{path:Text}", which does not change')
def _(context, fails, path):
    place = drive.sandbox(context) / path
    context.env = unsteady.failing_git(context.world, place, fails, changing=False)


@given('git finds, {how_often}, that the directory "{path:Text}" has just gone')
def _(context, how_often, path):
    always = {"always": True, "once": False}[how_often]
    context.env = unsteady.git_that_misses(context.world, path, always=always)


@when('I run "{command:Text}" meanwhile')
def _(context, command):
    context.ran = context.world.plan(*command.split()[1:], env=context.env)


@given('a process that fills "{path:Text}" with one letter after another')
def _(context, path):
    filling = unsteady.start_filling(drive.sandbox(context) / path)
    context.add_cleanup(unsteady.stop, filling)


@when("I save {count:d} checkpoints meanwhile")
def _(context, count):
    with drive.checkpoints(context) as service:
        plan, request = context.plan.plan_id, CheckpointRequest()
        context.saved = [service.create_checkpoint(plan, request) for _ in range(count)]


@then('each of them holds "{path:Text}" as it was at one moment, or tells that it does not hold it')
def _(context, path):
    assert context.saved
    for checkpoint in context.saved:
        entry = audit.stored_files(context.world, str(checkpoint.sandbox_ref)).get(path.encode())
        told = {note["path"] for note in checkpoint.metadata.get("not_captured", ())}
        assert (entry is None) == (path in told), told
        assert entry is None or unsteady.of_one_moment(entry[2]), set(entry[2])


@then("the latest checkpoint tells of nothing that it does not hold")
def _(context):
    with drive.checkpoints(context) as service:
        latest = service.get_checkpoint(context.plan.plan_id, "latest")
    assert not latest.metadata.get("not_captured"), latest.metadata


@then("the store has no pack that is half done")
def _(context):
    left = list(context.world.store.glob("objects/pack/tmp_*"))
    assert not left, left
