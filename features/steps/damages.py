"""Steps about damage to the files that Backtrail keeps for itself."""

from behave import given, then, when

from support import damage
from support.disk import walk


@given("all of its own files as they are after some work")
def _(context):
    context.wanted = walk(context.world.sandbox("auth"))
    context.rewind = damage.Rewind(context.world)
    context.add_cleanup(context.rewind.forget)


@when("each of its files and directories is damaged in turn, and it is used")
def _(context):
    context.trouble = []
    for case in damage.cases(context.world.backtrail_home):
        context.trouble += damage.trouble_of(context.world, case, context.wanted)
        context.rewind.rewind()


@then("every command ends with a documented code, and no success is claimed that is none")
def _(context):
    assert not context.trouble, "\n".join(context.trouble)
