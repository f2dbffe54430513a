"""Steps about sandboxes that claim to be another repository."""

import shlex

from behave import given, then, when

from support.hostile import claims
from support.program.forked import DoHere, run_forked
from support.world import users

MERGE_NOTES = ("MERGE_HEAD", "MERGE_MSG")


@given("the sandbox has {what}")
def _(context, what):
    claims.claim(context.world, what)


@when('{what} is exchanged for a link while "{command}" is at {place}')
def _(context, what, command, place):
    context.exchange = claims.Exchange.of(context.world, what)
    meddler = DoHere(place, context.exchange.carry_out)
    context.ran = run_forked(context.world, *shlex.split(command)[1:], failpoints=meddler)


@given("git has notes of a merge of the user's own")
def _(context):
    context.notes = {context.world.repo / ".git" / name: name for name in MERGE_NOTES}
    for path, content in context.notes.items():
        path.write_text(content)


@then("git still has the notes of the user's merge")
def _(context):
    assert {path: path.read_text() for path in context.notes} == context.notes


@then("what was exchanged is where it was put")
def _(context):
    assert context.exchange.is_there(), context.exchange


@when("what was exchanged is put back")
def _(context):
    context.exchange.put_back()


@then("the user's own HEAD, index and refs are as they were")
def _(context):
    changed = users.differences(context.facts, users.repository_facts(context.world))
    own = {name for name in changed if not name.startswith(("worktrees/auth", "status of auth"))}
    assert not own, changed


@given('plan "{name}" on the main checkout')
def _(context, name):
    run_forked(context.world, "create", name, "--sandbox", ".").ok()


@given('plan "{name}" on the main checkout of a repository with a separate git directory')
def _(context, name):
    world = context.world
    world.git("init", "--quiet", "--separate-git-dir", str(world.root / "separate"))
    world.git("worktree", "repair")
    run_forked(world, "create", name, "--sandbox", ".").ok()


@given("its .git leads to the git directory of a linked worktree")
def _(context):
    world = context.world
    world.git("worktree", "add", "--quiet", str(world.root / "other"))
    (world.repo / ".git").write_text((world.root / "other" / ".git").read_text())


@given('a directory "{name}" whose .git leads to the user\'s own')
def _(context, name):
    place = context.world.root / name
    place.mkdir()
    (place / ".git").write_text(f"gitdir: {context.world.repo / '.git'}\n")
