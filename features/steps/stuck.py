"""Steps about merges, rebases and the like that have stopped half-way."""

from behave import given, step, then, when

from support import drive, stuck


def _twin(context):
    return context.world.root / f"{context.world.repo_name}.plans" / "twin"


@given("branches that do not go together")
def _(context):
    world, sandbox = context.world, drive.sandbox(context)
    stuck.make_history(world, sandbox)
    branch = context.plan.sandbox.branch or "feature"
    stuck.take_up(world, sandbox, branch)


@given("a twin of the sandbox that is left alone")
def _(context):
    world = context.world
    world.git("worktree", "add", "--quiet", "-b", "plan/twin", str(_twin(context)), "mine")


@step("the agent is stuck in {what}")
def _(context, what):
    context.stuck_in = what
    stuck.begin(context.world, drive.sandbox(context), what)


@step("the agent gives it up")
def _(context):
    stuck.give_up(context.world, drive.sandbox(context), context.stuck_in)


@step("the agent goes on with it to its end")
def _(context):
    stuck.go_on(context.world, drive.sandbox(context), context.stuck_in)


@when("the agent destroys all that git knows of it")
def _(context):
    stuck.destroy(context.world, drive.sandbox(context))


@then("all is as in the twin, where it was begun and ended without any of this")
def _(context):
    world, sandbox, twin = context.world, drive.sandbox(context), _twin(context)
    stuck.begin(world, twin, context.stuck_in)
    stuck.go_on(world, twin, context.stuck_in)
    expected, found = (
        stuck.story(world, twin, "plan/twin"),
        stuck.story(world, sandbox, "plan/auth"),
    )
    assert found == expected, f"{found}\n=== but in the twin:\n{expected}"


@then("nothing is under way in the sandbox")
def _(context):
    status = context.world.git("status", cwd=drive.sandbox(context))
    for words in ("in progress", "You have unmerged", "All conflicts fixed", "bisecting"):
        assert words not in status, status
    assert not drive.look(context).under_way
