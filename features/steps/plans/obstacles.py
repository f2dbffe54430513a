"""Steps about what is in the way of an apply, and about the commit that it makes."""

import shlex

from behave import given, then, when

from support.plans import applying, obstacles
from support.program.answers import in_every_format
from support.program.forked import run_forked
from support.world import drive, evidence, phrases, users
from support.world.world import write_files


@given("the agent does all that could be in the way")
def _(context):
    obstacles.agents_everything(context.world, drive.sandbox(context))


@given("in their checkout the user has {what}")
def _(context, what):
    obstacles.OWN_WORK[what](context.world)


@given('a worktree "{name:Text}" of the user\'s on branch "{branch:Text}"')
def _(context, name, branch):
    context.worktree = context.world.root / name
    context.world.git("worktree", "add", "--quiet", "-b", branch, str(context.worktree))


@given("that worktree has {state}")
def _(context, state):
    obstacles.STATES[state](context.world, context.worktree)


@then("that worktree is clean and has the work")
def _(context):
    assert applying.status(context.world, context.worktree) == ""
    assert (context.worktree / "src/app.py").read_text() == "print('two')\n"


@then("that worktree has the work and an edit of README.md")
def _(context):
    assert applying.status(context.world, context.worktree) == " M README.md\n"
    assert (context.worktree / "src/app.py").read_text() == "print('two')\n"


@given('branch "main" is checked out twice')
def _(context):
    obstacles.check_out_twice(context.world)


@given('branch "{branch:Text}" is checked out in the sandbox of another plan')
def _(context, branch):
    obstacles.check_out_in_another_plan(context.world, branch)


@then('the user\'s checkout differs from branch "{branch:Text}" in: {listed}')
def _(context, branch, listed):
    found = context.world.git("diff", "--name-only", branch).split()
    assert found == phrases.names(listed), found


@then("these shouted, in this order: {listed}")
def _(context, listed):
    # Git tells this hook of every ref that moves, also of those that are its own business.
    heard = [line.split(" ")[0] for line in users.shouted(context.world).splitlines()]
    found = [name for name in heard if name not in ("reference-transaction", "post-index-change")]
    assert found == phrases.names(listed), heard


@then('the commit of branch "{branch:Text}" is signed')
def _(context, branch):
    assert "gpgsig signature" in context.world.git("cat-file", "commit", branch)


@then("no working tree of ours is left")
def _(context):
    assert not list(context.world.root.glob("*.plans/.apply-*"))
    listed = context.world.git("worktree", "list", "--porcelain").count("worktree ")
    assert listed == 2, listed


@then('branch "{branch:Text}" has "{path:Text}" with "{content:Text}"')
def _(context, branch, path, content):
    assert applying.blob(context.world, branch, path) == content.encode()


@given('hooks in the tracked folder "{folder:Text}" that shout')
def _(context, folder):
    world = context.world
    users.shouting_program(world, world.repo / folder / "pre-commit")
    world.git("config", "core.hooksPath", folder)
    world.git("add", folder)
    world.git("commit", "--quiet", "--no-verify", "-m", "hooks")
    users.silence(world)


@given('the agent\'s "{path:Text}" shouts something else')
def _(context, path):
    world, sandbox = context.world, drive.sandbox(context)
    world.git("-c", "core.hooksPath=/dev/null", "merge", "--quiet", "main", cwd=sandbox)
    text = (world.repo / path).read_text().replace("pre-commit", "planted")
    write_files(sandbox, {path: text})


@when('I run "{command:Text}" in every format as somebody whom git does not know')
def _(context, command):
    env = obstacles.nameless(context.world)
    context.before = evidence.collect(context.world)
    context.answers = in_every_format(context.world, *shlex.split(command)[1:], env=env)


@when('somebody whom git does not know runs "{command:Text}"')
def _(context, command):
    env = obstacles.nameless(context.world)
    context.ran = run_forked(context.world, *shlex.split(command)[1:], env=env)
