"""Steps about worktrees that are there whole or not at all."""

from behave import then, when

from support.crashes import crashes, kill_calls
from support.program.forked import DoHere, run_forked
from support.world.examples import thorough


@when('"{command}" is killed before each of its changes, every {stride:d}')
def _(context, command, stride):
    context.killed = command.split()[1:]
    context.stride = 1 if thorough() else stride


@then('every time the user\'s git worked, "{command}" went on, and no litter was left')
def _(context, command):
    world, stories = context.world, []
    plans = sorted({path.name for path in world.sandbox("auth").parent.glob("*")} | {"auth"})
    for crash in kill_calls.kills(world, tuple(context.killed), stride=context.stride):
        kill_calls.go_on(world, crash, tuple(context.killed), tuple(command.split()[1:]), plans)
        stories.append(crash)
    assert len(stories) > 2, "hardly anything was killed"
    for topic in ("git", "usable", "litter", "invariant"):
        assert not crashes.report(stories, topic), crashes.report(stories, topic)


@then("the user's git works")
def _(context):
    assert not kill_calls.users_git_is_wrong(context.world)


@then("the user's git works, and no litter is left")
def _(context):
    assert not kill_calls.users_git_is_wrong(context.world)
    assert not kill_calls.litter(context.world), kill_calls.litter(context.world)


@then('the user\'s git works, and no litter is left beside plan "{name}"')
def _(context, name):
    assert not kill_calls.users_git_is_wrong(context.world)
    assert not kill_calls.litter(context.world, name), kill_calls.litter(context.world, name)


@when('the disk is full from {place} on while I run "{command}"')
def _(context, place, command):
    full = DoHere(place, kill_calls.fill_disk)
    context.ran = run_forked(context.world, *command.split()[1:], failpoints=full)


@then("it did not succeed")
def _(context):
    # What it says has no room in a file either.
    assert context.ran.code not in (0, 70), context.ran


@then('"{path}" in the place of plan "{name}" holds "{content:Text}"')
def _(context, path, name, content):
    assert (context.world.sandbox(name) / path).read_text() == content
