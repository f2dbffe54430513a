"""Steps about what git stores of a file, when that is not what is on disk."""

from behave import given, step, then

from support.plans import applying
from support.sandbox import conversions, sandboxes
from support.world import drive


@given("settings of the user's for {what}")
def _(context, what):
    conversions.set_up(context.world, what)


@given("the agent writes files that {what} concerns")
def _(context, what):
    conversions.write_concerned(drive.sandbox(context), what)


@step("I note the tree that git itself would commit of the sandbox")
def _(context):
    context.tree = applying.tree_of_plain_git(context.world, drive.sandbox(context))


@then('branch "{branch:Text}" has that tree')
def _(context, branch):
    found = context.world.git("rev-parse", f"{branch}^{{tree}}").strip()
    differs = context.world.run("git", "diff", "--stat", found, context.tree).out
    assert found == context.tree, differs


@then('branch "{branch:Text}" has that tree, which is not what is on disk')
def _(context, branch):
    found = context.world.git("rev-parse", f"{branch}^{{tree}}").strip()
    assert found == context.tree, (found, context.tree)
    assert conversions.is_converted(context.world, drive.sandbox(context), branch)


@then('branch "{branch:Text}" has "{path:Text}" as before')
def _(context, branch, path):
    before = context.world.git("rev-parse", f"{branch}~1:{path}")
    assert context.world.git("rev-parse", f"{branch}:{path}") == before


@given(
    'submodules "{ready:Text}" and "{bare:Text}" of the user\'s, '
    "of which only the first is initialised"
)
def _(context, ready, bare):
    sandboxes.add_submodules(context.world, context.world.repo, ready, bare)


@given('the submodule "{name:Text}" of the sandbox is at another commit, and has hostile settings')
def _(context, name):
    context.inner = conversions.another_commit(context.world, drive.sandbox(context), name)


@then(
    'branch "{branch:Text}" has submodule "{name:Text}" at that commit, '
    'and "{other:Text}" where it was'
)
def _(context, branch, name, other):
    world = context.world
    before = world.git("rev-parse", f"{branch}@{{1}}:{other}").strip()
    found = [world.git("rev-parse", f"{branch}:{path}").strip() for path in (name, other)]
    assert found == [context.inner, before], found
